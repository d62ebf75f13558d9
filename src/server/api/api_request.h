// What a client asks for, whatever dialect it came in. Plain values, checked for type and range.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chat/chat_request.h"
#include "engine/engine.h"
#include "server/api/api_error.h"

namespace tempo9::server {

using TextPrompt = std::variant<std::string, std::vector<TokenId>>;

// Which tools the reply may, or must, call.
struct ToolChoice {
  enum class Kind { kAuto, kNone, kRequired, kNamed } kind = Kind::kAuto;
  std::string name;  // kNamed: a tool's name as the model sees it
};

// The form the reply's text must have.
struct OutputFormat {
  enum class Kind { kText, kJson, kSchema } kind = Kind::kText;
  chat::Json schema;  // kSchema: a JSON Schema, its keys in the client's order
  std::string field;  // where the request asks for it, for messages
};

struct ApiRequest {
  std::string model;  // as asked for; empty if it was left out
  // A conversation, or texts to go on from (each is a prompt of its own). Ollama asks for a model to be
  // loaded by a conversation without messages.
  std::variant<chat::ChatRequest, std::vector<TextPrompt>> input;
  std::string input_field = "messages";  // where it stands in the body, for messages about it
  sample::SamplingOptions sampling;      // its seed is set from `seed`
  std::optional<uint64_t> seed;          // absent: another one for every request
  int max_new_tokens = 0;                // 0: as many as the context holds
  bool ignore_end = false;               // the reply goes on to its limit or a stop string
  std::vector<std::string> stop;
  int choices = 1;  // replies to each prompt
  bool stream = false;
  bool stream_usage = false;  // the stream ends with the usage
  ToolChoice tool_choice;
  bool parallel_tool_calls = true;
  OutputFormat output;
  std::vector<std::string> unknown_fields;  // also what is known and left out: `tools: web_search`
  // What the request asks for and this server cannot do yet; the answer to it is this error.
  std::optional<ApiError> gap;
};

}  // namespace tempo9::server
