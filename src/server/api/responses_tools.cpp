#include "server/api/responses_tools.h"

#include <algorithm>
#include <utility>

#include "server/api/tools.h"

namespace tempo9::server {
namespace {

chat::Tool read_one(Fields& fields, std::string_view type) {
  if (type == "custom") return read_freeform(fields);
  chat::Tool tool = read_function(fields);
  tool.deferred = fields.boolean("defer_loading").value_or(false);
  return tool;
}

void put_into_namespace(chat::Tool& tool, const std::string& name_space) {
  tool.name_space = name_space;
  tool.own_name = std::exchange(tool.name, qualified_name(name_space, tool.name));
  tool.declaration["function"]["name"] = tool.name;
}

void read_namespace(Fields& fields, std::vector<chat::Tool>& tools) {
  const std::string name = fields.required_string("name");
  const Json* members = fields.required_array("tools");
  if (members == nullptr) return;
  const FieldPath path = fields.path().member("tools");
  for (size_t i = 0; i < members->size(); ++i) {
    const FieldPath member_path = path.element(i);
    Fields member((*members)[i], member_path, fields.faults());
    const std::string type = member.string("type").value_or("function");
    if (type != "function" && type != "custom") {
      member.refuse(ErrorCode::kUnsupported, "type",
                    fmt::format("tools of type '{}' are not supported in a namespace", abbreviate(type)));
      continue;
    }
    tools.push_back(read_one(member, type));
    put_into_namespace(tools.back(), name);
  }
}

// What a model calls by this name is a search by the client, whose answer declares further tools.
chat::Tool read_search(Fields& fields) {
  const Json* parameters = fields.object("parameters");
  chat::Tool tool = make_function("tool_search", fields.string("description").value_or(""),
                                  parameters == nullptr ? Json() : *parameters);
  tool.kind = chat::Tool::Kind::kToolSearch;
  return tool;
}

}  // namespace

void read_responses_tool(const Json& value, const FieldPath& path, Faults& faults,
                         std::vector<chat::Tool>& tools, std::vector<std::string>& left_out) {
  Fields fields(value, path, faults);
  const std::string type = fields.required_string("type");
  if (type == "function" || type == "custom")
    tools.push_back(read_one(fields, type));
  else if (type == "namespace")
    read_namespace(fields, tools);
  else if (type == "tool_search" && fields.string("execution") == "client")
    tools.push_back(read_search(fields));
  else
    left_out.push_back(fmt::format("tools: {}", abbreviate(type)));
}

void read_responses_tools(Fields& fields, chat::ChatRequest& conversation,
                          std::vector<std::string>& left_out) {
  const Json* values = fields.array("tools");
  if (values == nullptr) return;
  const FieldPath path = fields.path().member("tools");
  std::vector<chat::Tool>& tools = conversation.tools;
  for (size_t i = 0; i < values->size(); ++i)
    read_responses_tool((*values)[i], path.element(i), fields.faults(), tools, left_out);
  // Without a search that the client runs nobody would ever find a tool that is put off.
  if (std::ranges::find(tools, chat::Tool::Kind::kToolSearch, &chat::Tool::kind) == tools.end())
    for (chat::Tool& tool : tools) tool.deferred = false;
}

}  // namespace tempo9::server
