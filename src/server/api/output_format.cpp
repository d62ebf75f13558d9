#include "server/api/output_format.h"

namespace tempo9::server {
namespace {

void set_schema(const Json* schema, OutputFormat& output) {
  output.kind = OutputFormat::Kind::kSchema;
  if (schema != nullptr) output.schema = *schema;
}

}  // namespace

void read_output_format(Fields& fields, std::string_view name, OutputFormat& output) {
  const Json* format = fields.object(name);
  if (format == nullptr) return;
  const FieldPath path = fields.path().member(name);
  Fields members(*format, path, fields.faults());
  const std::string type = members.required_string("type");
  if (type == "text" || type.empty()) return;
  if (type == "json_object") {
    output.kind = OutputFormat::Kind::kJson;
  } else if (type == "json_schema") {
    const FieldPath nested_path = path.member("json_schema");
    const Json* nested = members.object("json_schema");
    set_schema(nested == nullptr ? members.required_object("schema")
                                 : Fields(*nested, nested_path, fields.faults()).required_object("schema"),
               output);
  } else {
    return members.refuse(ErrorCode::kUnsupported, "type",
                          fmt::format("'{}' is not one of text, json_object, json_schema", abbreviate(type)));
  }
  output.field = path.text();
}

void read_ollama_format(Fields& fields, OutputFormat& output) {
  const Json* format = fields.any("format");
  if (format == nullptr || *format == "") return;
  if (*format == "json") {
    output.kind = OutputFormat::Kind::kJson;
  } else if (format->is_object()) {
    set_schema(format, output);
  } else {
    return fields.refuse(ErrorCode::kInvalidArgument, "format",
                         fmt::format("expected \"json\" or a JSON Schema, but got {}", kind_of(*format)));
  }
  output.field = "format";
}

}  // namespace tempo9::server
