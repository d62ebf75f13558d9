#include "server/api/tools.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace tempo9::server {
namespace {

void read_tool(const Json& value, const FieldPath& path, Faults& faults, chat::ChatRequest& conversation) {
  Fields tool(value, path, faults);
  const std::string type = tool.string("type").value_or("function");
  const std::string_view member = type == "custom" ? "custom" : "function";
  if (type != member)
    return tool.refuse(ErrorCode::kUnsupported, "type",
                       fmt::format("tools of type '{}' are not supported", abbreviate(type)));
  const Json* described = tool.required_object(member);
  if (described == nullptr) return;
  const FieldPath described_path = path.member(member);
  Fields fields(*described, described_path, faults);
  if (member == "function") return conversation.tools.push_back(read_function(fields));
  conversation.tools.push_back(read_freeform(fields));
}

// As Chat ({"type": "grammar", "grammar": {"syntax", "definition"}}) or Responses ({"type": "grammar",
// "syntax", "definition"}) write it.
Json read_format(Fields& tool) {
  const Json* format = tool.object("format");
  if (format == nullptr) return nullptr;
  const FieldPath path = tool.path().member("format");
  Fields fields(*format, path, tool.faults());
  const std::string type = fields.required_string("type");
  if (type == "text") return nullptr;
  if (type != "grammar") {
    fields.refuse(ErrorCode::kUnsupported, "type",
                  fmt::format("'{}' is not one of text, grammar", abbreviate(type)));
    return nullptr;
  }
  const FieldPath nested_path = path.member("grammar");
  const Json* nested = fields.object("grammar");
  std::optional<Fields> inner;
  if (nested != nullptr) inner.emplace(*nested, nested_path, tool.faults());
  Fields& grammar = inner ? *inner : fields;
  const std::string syntax = grammar.required_string("syntax");
  if (syntax != "lark" && syntax != "regex")
    grammar.refuse(ErrorCode::kUnsupported, "syntax",
                   fmt::format("'{}' is not one of lark, regex", abbreviate(syntax)));
  return {{"syntax", syntax}, {"definition", grammar.required_string("definition")}};
}

}  // namespace

chat::Tool make_function(std::string name, std::string description, Json parameters) {
  Json function = {{"name", name}};
  if (!description.empty()) function["description"] = description;
  if (!parameters.is_null()) function["parameters"] = parameters;
  chat::Tool tool;
  tool.name = std::move(name);
  tool.description = std::move(description);
  tool.parameters = std::move(parameters);
  tool.declaration = {{"type", "function"}, {"function", std::move(function)}};
  return tool;
}

chat::Tool make_freeform(std::string name, const std::string& description, Json format) {
  std::string text = description;
  if (!format.is_null())
    text += fmt::format("\n\nThe input follows this {} grammar:\n{}", format["syntax"].get<std::string>(),
                        format["definition"].get<std::string>());
  const Json parameters = {
      {"type", "object"}, {"properties", {{"input", {{"type", "string"}}}}}, {"required", {"input"}}};
  chat::Tool tool = make_function(std::move(name), std::move(text), parameters);
  tool.kind = chat::Tool::Kind::kFreeform;
  tool.format = std::move(format);
  return tool;
}

Json freeform_arguments(std::string input) {
  return {{"input", std::move(input)}};
}

chat::Tool read_function(Fields& fields) {
  std::string name = fields.required_string("name");
  std::string description = fields.string("description").value_or("");
  const Json* parameters = fields.object("parameters");
  chat::Tool tool =
      make_function(std::move(name), std::move(description), parameters == nullptr ? Json() : *parameters);
  tool.strict = fields.boolean("strict").value_or(false);
  return tool;
}

chat::Tool read_freeform(Fields& fields) {
  std::string name = fields.required_string("name");
  return make_freeform(std::move(name), fields.string("description").value_or(""), read_format(fields));
}

void read_function_tools(Fields& fields, chat::ChatRequest& conversation) {
  const Json* tools = fields.array("tools");
  if (tools == nullptr) return;
  const FieldPath path = fields.path().member("tools");
  for (size_t i = 0; i < tools->size(); ++i)
    read_tool((*tools)[i], path.element(i), fields.faults(), conversation);
}

std::string qualified_name(std::string_view name_space, std::string_view name) {
  if (name_space.empty()) return std::string(name);
  return fmt::format("{}{}{}", name_space, name_space.ends_with("__") ? "" : "__", name);
}

void read_tool_choice(Fields& fields, ToolChoice& choice) {
  constexpr std::array<std::pair<std::string_view, ToolChoice::Kind>, 3> kWords = {{
      {"auto", ToolChoice::Kind::kAuto},
      {"none", ToolChoice::Kind::kNone},
      {"required", ToolChoice::Kind::kRequired},
  }};
  constexpr std::string_view kField = "tool_choice";
  const Json* value = fields.any(kField);
  if (value == nullptr) return;
  if (!value->is_object()) {
    for (const auto& [word, kind] : kWords) {
      if (*value != word) continue;
      choice.kind = kind;
      return;
    }
    return fields.refuse(ErrorCode::kInvalidArgument, kField,
                         "expected auto, none, required or an object that names a tool");
  }
  const FieldPath path = fields.path().member(kField);
  Fields members(*value, path, fields.faults());
  const std::string type = members.required_string("type");
  if (type != "function" && type != "custom")
    return members.refuse(ErrorCode::kUnsupported, "type",
                          fmt::format("a choice of type '{}' is not supported", abbreviate(type)));
  choice.kind = ToolChoice::Kind::kNamed;
  const FieldPath nested_path = path.member(type);
  const Json* nested = members.object(type);
  choice.name = nested != nullptr ? Fields(*nested, nested_path, fields.faults()).required_string("name")
                                  : qualified_name(members.string("namespace").value_or(""),
                                                   members.required_string("name"));
}

void check_tools(const ApiRequest& request, const chat::ChatRequest& conversation, Fields& fields,
                 std::string_view field) {
  const auto& tools = conversation.tools;
  const ToolChoice& choice = request.tool_choice;
  if (choice.kind == ToolChoice::Kind::kNamed &&
      std::ranges::find(tools, choice.name, &chat::Tool::name) == tools.end())
    fields.refuse(ErrorCode::kInvalidArgument, field,
                  fmt::format("there is no tool of the name '{}'", abbreviate(choice.name)));
  if (choice.kind == ToolChoice::Kind::kRequired && tools.empty())
    fields.refuse(ErrorCode::kInvalidArgument, field, "a call is required, but there are no tools");
}

std::string declare_found(const chat::Tool& tool) {
  return fmt::format("The tool {} is available now:\n{}", tool.name, dump_json(tool.declaration));
}

DeferredTools::DeferredTools(const std::vector<chat::Tool>& tools) {
  for (const chat::Tool& tool : tools)
    if (tool.deferred) unknown_.emplace(tool.name, &tool);
}

std::string DeferredTools::introduce(const std::string& name) {
  const auto tool = unknown_.extract(name);
  if (tool.empty()) return fmt::format("The tool {} is available.", name);
  return declare_found(*tool.mapped());
}

}  // namespace tempo9::server
