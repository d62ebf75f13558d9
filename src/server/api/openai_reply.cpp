#include "server/api/openai_reply.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "server/api/openai_errors.h"
#include "server/api/reply_parts.h"
#include "server/http/sse.h"

namespace tempo9::server {
namespace {

constexpr const char* kCallPrefix = "call_";

const char* finish_text(StopReason reason) {
  switch (reason) {
    case StopReason::kCalls:
      return "tool_calls";
    case StopReason::kLength:
      return "length";
    case StopReason::kEnd:
    case StopReason::kStopString:
      break;
  }
  return "stop";
}

// What grows while a call comes: its arguments, or a free-form tool's input. `members` come before it.
Json call_content(const ClientCall& call, Json members, const std::string& text) {
  members[call.freeform() ? "input" : "arguments"] = text;
  return {{call.freeform() ? "custom" : "function", std::move(members)}};
}

// With the members that name it: a whole call, or the first piece of one.
Json named_call(const ClientCall& call, const std::string& id, const std::string& text) {
  Json object = {{"id", id}, {"type", call.freeform() ? "custom" : "function"}};
  object.update(call_content(call, {{"name", call.tool.name}}, text));
  return object;
}

Json usage_object(const ReplyUsage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}}};
}

class OpenAiReply : public ReplyWriter {
 public:
  OpenAiReply(const OpenAiShape& shape, OpenAiReplyOptions options, std::shared_ptr<ResponseWriter> response)
      : shape_(shape),
        options_(std::move(options)),
        response_(std::move(response)),
        calls_(options_.choices, ClientCalls(options_.tools)) {}

 protected:
  Json frame(const char* object) const {
    return {{"id", derive_id(shape_.id_prefix, options_.request_id)},
            {"object", object},
            {"created", options_.created},
            {"model", options_.model}};
  }

  static Json choice_object(size_t index, const Json& content, std::optional<StopReason> finish) {
    Json choice = {{"index", index}};
    choice.update(content);
    choice["finish_reason"] = finish ? Json(finish_text(*finish)) : Json();
    return choice;
  }

  ClientCalls& calls_of(const ChatDelta& delta) { return calls_[static_cast<size_t>(delta.choice)]; }

  std::string id_of(const ClientCall& call, int choice) const {
    return call_id(kCallPrefix, options_.request_id, choice, call.index);
  }

  const OpenAiShape& shape_;
  const OpenAiReplyOptions options_;
  const std::shared_ptr<ResponseWriter> response_;

 private:
  std::vector<ClientCalls> calls_;  // of each choice
};

class WholeReply final : public OpenAiReply {
 public:
  using OpenAiReply::OpenAiReply;

  void begin(int) override {
    choices_.resize(options_.choices);
    complete_calls_.resize(options_.choices, Json::array());
  }

  void add(ChatDelta delta) override {
    const auto index = static_cast<size_t>(delta.choice);
    ClientCalls& calls = calls_of(delta);
    for (const chat::CallDelta& piece : delta.calls)
      if (calls.take(piece).finished)
        complete_calls_[index].push_back(
            named_call(calls.call(), id_of(calls.call(), delta.choice), calls.call().text));
    ChatDelta& choice = choices_[index];
    choice.text += delta.text;
    choice.reasoning += delta.reasoning;
    std::ranges::move(delta.tokens, std::back_inserter(choice.tokens));
    choice.finish = delta.finish;
  }

  void finish(const ReplyUsage& usage) override {
    Json body = frame(shape_.whole_object);
    Json choices = Json::array();
    for (size_t i = 0; i < choices_.size(); ++i)
      choices.push_back(
          choice_object(i, shape_.whole_choice(choices_[i], std::move(complete_calls_[i]), options_.logprobs),
                        choices_[i].finish));
    body["choices"] = std::move(choices);
    body["usage"] = usage_object(usage);
    response_->send(json_response(200, body));
  }

  void fail(const ApiError& error) override { response_->send(openai_error(error)); }

 private:
  std::vector<ChatDelta> choices_;
  std::vector<Json> complete_calls_;  // of each choice
};

class StreamedReply final : public OpenAiReply {
 public:
  using OpenAiReply::OpenAiReply;

  void begin(int) override {
    begun_ = true;
    response_->begin_stream(
        {200, event_stream_headers(),
         [silence = format_event(chunk(0, shape_.silent_choice(), std::nullopt))] { return silence; }});
    for (size_t i = 0; i < options_.choices; ++i) put(chunk(i, shape_.opening_choice(), std::nullopt));
  }

  void add(ChatDelta delta) override {
    const auto index = static_cast<size_t>(delta.choice);
    const bool has_content = !delta.text.empty() || !delta.reasoning.empty() || !delta.tokens.empty();
    if (has_content) put(chunk(index, shape_.chunk_choice(delta, options_.logprobs), std::nullopt));
    for (const chat::CallDelta& piece : delta.calls) add_piece(delta, piece);
    if (delta.finish) put(chunk(index, shape_.silent_choice(), delta.finish));
  }

  void finish(const ReplyUsage& usage) override {
    if (options_.stream_usage) {
      Json body = frame(shape_.chunk_object);
      body["choices"] = Json::array();
      body["usage"] = usage_object(usage);
      put(dump_json(body));
    }
    put("[DONE]");
    response_->end();
  }

  void fail(const ApiError& error) override {
    if (!begun_) return response_->send(openai_error(error));
    put(dump_json(openai_error_object(error)));
    response_->end();
  }

 private:
  // Nothing takes a call back that has begun: a withdrawn one ends without having become valid JSON.
  void add_piece(const ChatDelta& delta, const chat::CallDelta& piece) {
    ClientCalls& calls = calls_of(delta);
    const ClientCalls::Step step = calls.take(piece);
    if (!step.begins && step.added.empty()) return;
    const ClientCall& call = calls.call();
    Json object = {{"index", call.index}};
    object.update(step.begins ? named_call(call, id_of(call, delta.choice), step.added)
                              : call_content(call, Json::object(), step.added));
    put(chunk(static_cast<size_t>(delta.choice), shape_.call_choice(std::move(object)), std::nullopt));
  }

  void put(std::string_view data) { response_->write(format_event(data)); }

  std::string chunk(size_t index, const Json& content, std::optional<StopReason> finish) const {
    Json body = frame(shape_.chunk_object);
    body["choices"] = Json::array({choice_object(index, content, finish)});
    if (options_.stream_usage) body["usage"] = nullptr;
    return dump_json(body);
  }

  bool begun_ = false;
};

}  // namespace

std::unique_ptr<ReplyWriter> make_openai_reply(const OpenAiShape& shape, OpenAiReplyOptions options,
                                               std::shared_ptr<ResponseWriter> response) {
  if (options.stream) return std::make_unique<StreamedReply>(shape, std::move(options), std::move(response));
  return std::make_unique<WholeReply>(shape, std::move(options), std::move(response));
}

std::string printable(std::string_view bytes) {
  // The library replaces what is not UTF-8 when it writes; reading that back gives the replaced text.
  return Json::parse(dump_json(Json(bytes))).get<std::string>();
}

Json logprob_entries(const std::vector<TokenReport>& tokens) {
  const auto describe = [](const TokenText& token) {
    Json bytes = Json::array();
    for (const unsigned char byte : token.bytes) bytes.push_back(byte);
    return Json{{"token", printable(token.bytes)},
                {"logprob", finite_logprob(token.logprob)},
                {"bytes", std::move(bytes)}};
  };
  Json entries = Json::array();
  for (const TokenReport& token : tokens) {
    Json entry = describe(token.chosen);
    entry["top_logprobs"] = Json::array();
    for (const TokenText& top : token.top) entry["top_logprobs"].push_back(describe(top));
    entries.push_back(std::move(entry));
  }
  return entries;
}

double finite_logprob(float logprob) {
  constexpr float kNever = -9999.0f;
  return logprob > kNever ? logprob : kNever;
}

}  // namespace tempo9::server
