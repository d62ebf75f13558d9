// Tools, as every dialect hands them on: functions with a name, a description and a JSON Schema.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/api/api_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

// Its declaration has these members in this order whatever the client's was, but the schema is left as it
// came. An empty description and a schema of null stay out of it.
chat::Tool make_function(std::string name, std::string description, Json parameters);

// A tool that takes text rather than JSON: shown as a function of one string, with the grammar that the text
// must follow in its description. `format` is null or {"syntax": "lark" or "regex", "definition": …}.
chat::Tool make_freeform(std::string name, const std::string& description, Json format);
Json freeform_arguments(std::string input);

// `tools` and each `{"type": "function", "function": {…}}` in it, as OpenAI's Chat and Ollama write them.
void read_function_tools(Fields& fields, chat::ChatRequest& conversation);

// Of the members name, description, parameters and strict.
chat::Tool read_function(Fields& fields);

// Of the members name, description and format.
chat::Tool read_freeform(Fields& fields);

// The name that the model sees of a function in a namespace, which may be empty.
std::string qualified_name(std::string_view name_space, std::string_view name);

// OpenAI's `tool_choice`: a word, or the tool as Chat ({"type", "function": {"name"}}) or Responses ({"type",
// "name"}) write it.
void read_tool_choice(Fields& fields, ToolChoice& choice);

// Refuses a choice of a tool that is not there. `field` is the one with the choice.
void check_tools(const ApiRequest& request, const chat::ChatRequest& conversation, Fields& fields,
                 std::string_view field);

// What the model is told where a search has found a tool.
std::string declare_found(const chat::Tool& tool);

// Deferred tools are declared in the conversation, where a search has found them.
class DeferredTools {
 public:
  // `tools` must outlive this and stay as they are.
  explicit DeferredTools(const std::vector<chat::Tool>& tools);
  // Its declaration the first time, later its name: many references to one long schema stay short.
  std::string introduce(const std::string& name);

 private:
  std::unordered_map<std::string, const chat::Tool*> unknown_;  // to the model, so far
};

}  // namespace tempo9::server
