#include "server/api/openai_chat_reply.h"

#include <utility>

namespace tempo9::server {
namespace {

Json logprobs_object(const std::vector<TokenReport>& tokens, bool wanted) {
  if (!wanted) return nullptr;
  return {{"content", logprob_entries(tokens)}, {"refusal", nullptr}};
}

Json whole_choice(const ChatDelta& reply, Json calls, bool logprobs) {
  const bool calls_only = reply.text.empty() && !calls.empty();
  Json message = {
      {"role", "assistant"}, {"content", calls_only ? Json() : Json(reply.text)}, {"refusal", nullptr}};
  if (!reply.reasoning.empty()) message["reasoning_content"] = reply.reasoning;
  if (!calls.empty()) message["tool_calls"] = std::move(calls);
  return {{"message", std::move(message)}, {"logprobs", logprobs_object(reply.tokens, logprobs)}};
}

Json delta_choice(Json delta, Json logprobs) {
  return {{"delta", std::move(delta)}, {"logprobs", std::move(logprobs)}};
}

Json chunk_choice(const ChatDelta& delta, bool logprobs) {
  Json content = Json::object();
  if (!delta.reasoning.empty()) content["reasoning_content"] = delta.reasoning;
  if (!delta.text.empty() || delta.reasoning.empty()) content["content"] = delta.text;
  return delta_choice(std::move(content), logprobs_object(delta.tokens, logprobs));
}

constexpr OpenAiShape kChatShape = {
    .id_prefix = "chatcmpl-",
    .whole_object = "chat.completion",
    .chunk_object = "chat.completion.chunk",
    .whole_choice = whole_choice,
    .chunk_choice = chunk_choice,
    .call_choice =
        [](Json call) {
          return delta_choice({{"tool_calls", Json::array({std::move(call)})}}, nullptr);
        },
    .opening_choice =
        [] {
          return delta_choice({{"role", "assistant"}, {"content", ""}}, nullptr);
        },
    .silent_choice = [] { return delta_choice(Json::object(), nullptr); },
};

}  // namespace

std::unique_ptr<ReplyWriter> make_openai_chat_reply(OpenAiReplyOptions options,
                                                    std::shared_ptr<ResponseWriter> response) {
  return make_openai_reply(kChatShape, std::move(options), std::move(response));
}

}  // namespace tempo9::server
