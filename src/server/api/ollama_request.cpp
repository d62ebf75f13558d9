#include "server/api/ollama_request.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "server/api/conversation.h"
#include "server/api/images.h"
#include "server/api/openai_fields.h"
#include "server/api/output_format.h"
#include "server/api/request_body.h"
#include "server/api/sampling_fields.h"
#include "server/api/tools.h"

namespace tempo9::server {
namespace {

constexpr chat::Role kRoles[] = {chat::Role::kSystem, chat::Role::kUser, chat::Role::kAssistant,
                                 chat::Role::kTool};

constexpr std::array<std::string_view, 3> kIgnored = {"keep_alive", "truncate", "shift"};
constexpr std::array<UnsupportedField, 3> kUnsupportedInGenerate = {{{"suffix"}, {"template"}, {"context"}}};

void read_images(Fields& fields, chat::Message& message) {
  const Json* images = fields.array("images");
  if (images == nullptr) return;
  const FieldPath path = fields.path().member("images");
  for (size_t i = 0; i < images->size(); ++i) {
    const auto* base64 = (*images)[i].get_ptr<const std::string*>();
    if (base64 != nullptr)
      add_image(message, *base64, path.element(i), fields.faults());
    else
      fields.faults().report(ErrorCode::kInvalidArgument, path.element(i),
                             fmt::format("expected a string, but got {}", kind_of((*images)[i])));
  }
}

chat::ToolCall read_call(const Json& value, const FieldPath& path, Faults& faults) {
  chat::ToolCall call;
  Fields fields(value, path, faults);
  call.id = fields.string("id").value_or("");
  const Json* function = fields.required_object("function");
  if (function == nullptr) return call;
  const FieldPath function_path = path.member("function");
  Fields members(*function, function_path, faults);
  call.name = members.required_string("name");
  const Json* arguments = members.any("arguments");
  if (arguments == nullptr) return call;
  const auto* text = arguments->get_ptr<const std::string*>();  // as OpenAI's clients have it
  call.arguments = text == nullptr ? *arguments : parse_arguments(members, "arguments", *text);
  return call;
}

void read_message(const Json& value, const FieldPath& path, Faults& faults, chat::ChatRequest& conversation) {
  Fields fields(value, path, faults);
  const std::optional<chat::Role> role = read_role(fields, kRoles);
  if (!role) return;
  chat::Message message;
  message.role = *role;
  read_images(fields, message);  // in front of the text
  if (auto content = fields.string("content")) add_text(message, *std::move(content));
  message.reasoning = fields.string("thinking").value_or("");
  if (const Json* calls = fields.array("tool_calls")) {
    const FieldPath calls_path = path.member("tool_calls");
    for (size_t i = 0; i < calls->size(); ++i)
      message.tool_calls.push_back(read_call((*calls)[i], calls_path.element(i), faults));
  }
  if (*role == chat::Role::kTool) {
    message.tool_call_id = fields.string("tool_call_id").value_or("");
    message.tool_name = fields.string("tool_name").value_or("");
  }
  conversation.messages.push_back(std::move(message));
}

// Whether to think: yes, no, or how hard.
void read_think(Fields& fields, chat::ChatRequest& conversation) {
  const Json* think = fields.any("think");
  if (think == nullptr) return;
  if (think->is_boolean()) {
    conversation.enable_thinking = think->get<bool>();
  } else if (think->is_string()) {
    conversation.enable_thinking = true;
    set_effort(conversation, think->get<std::string>());
  } else {
    fields.refuse(ErrorCode::kInvalidArgument, "think",
                  fmt::format("expected a boolean or a level, but got {}", kind_of(*think)));
  }
}

// The context's length is the server's own choice, and so is where the model runs: such options change no
// answer.
void read_options(Fields& fields, const engine::ModelInfo& model, ApiRequest& request) {
  const Json* options = fields.object("options");
  if (options == nullptr) return;
  const FieldPath path = fields.path().member("options");
  Fields members(*options, path, fields.faults());
  // -1 and -2 are Ollama's words for "as many as there is room for".
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  if (const auto most = members.integer("num_predict", -2, kMost); most.value_or(0) > 0)
    request.max_new_tokens = static_cast<int>(*most);
  read_stop(members, "stop", request);
  read_sampling(members, model, request);
}

void read_logprobs(Fields& fields, sample::SamplingOptions& sampling) {
  const bool wanted = fields.boolean("logprobs").value_or(false);
  const auto top = fields.integer("top_logprobs", 0, limits::kMaxTopLogprobs);
  if (wanted) sampling.top_logprobs = static_cast<int>(top.value_or(0));
}

void read_common(Fields& fields, const engine::ModelInfo& model, ApiRequest& request,
                 chat::ChatRequest& conversation) {
  request.model = fields.string("model").value_or("");
  request.stream = fields.boolean("stream").value_or(true);
  read_options(fields, model, request);
  read_ollama_format(fields, request.output);
  read_think(fields, conversation);
  read_logprobs(fields, request.sampling);
  ignore(fields, kIgnored);
}

}  // namespace

ApiResult<ApiRequest> parse_ollama_chat(std::string_view body, const engine::ModelInfo& model) {
  return parse_body<ApiRequest>(body, [&](Fields& fields, ApiRequest& request) {
    chat::ChatRequest conversation;
    read_common(fields, model, request, conversation);
    read_function_tools(fields, conversation);
    check_tools(request, conversation, fields, "tools");
    if (const Json* messages = fields.array("messages")) {
      const FieldPath path = fields.path().member("messages");
      for (size_t i = 0; i < messages->size(); ++i)
        read_message((*messages)[i], path.element(i), fields.faults(), conversation);
    }
    drop_attribution(conversation);
    request.input = std::move(conversation);
  });
}

ApiResult<ApiRequest> parse_ollama_generate(std::string_view body, const engine::ModelInfo& model) {
  return parse_body<ApiRequest>(body, [&](Fields& fields, ApiRequest& request) {
    request.input_field = "prompt";
    chat::ChatRequest conversation;
    read_common(fields, model, request, conversation);
    refuse_unsupported(fields, kUnsupportedInGenerate);
    std::string prompt = fields.string("prompt").value_or("");
    const std::string system = fields.string("system").value_or("");
    chat::Message message;
    read_images(fields, message);
    const bool raw = fields.boolean("raw").value_or(false);
    if (raw) {
      request.input = std::vector<TextPrompt>{std::move(prompt)};
      return;
    }
    if (!prompt.empty() || !message.content.empty()) {
      if (!system.empty()) {
        chat::Message instructions;
        instructions.role = chat::Role::kSystem;
        add_text(instructions, system);
        conversation.messages.push_back(std::move(instructions));
      }
      add_text(message, std::move(prompt));
      conversation.messages.push_back(std::move(message));
    }
    request.input = std::move(conversation);
  });
}

}  // namespace tempo9::server
