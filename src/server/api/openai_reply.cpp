#include "server/api/openai_reply.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "server/api/openai_errors.h"
#include "server/api/reply_parts.h"
#include "server/http/sse.h"

namespace tempo9::server {
namespace {

const char* finish_text(StopReason reason) {
  return reason == StopReason::kLength ? "length" : "stop";
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
      : shape_(shape), options_(std::move(options)), response_(std::move(response)) {}

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

  const OpenAiShape& shape_;
  const OpenAiReplyOptions options_;
  const std::shared_ptr<ResponseWriter> response_;
};

class WholeReply final : public OpenAiReply {
 public:
  using OpenAiReply::OpenAiReply;

  void begin(int) override { choices_.resize(options_.choices); }

  void add(ChatDelta delta) override {
    ChatDelta& choice = choices_[static_cast<size_t>(delta.choice)];
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
          choice_object(i, shape_.whole_choice(choices_[i], options_.logprobs), choices_[i].finish));
    body["choices"] = std::move(choices);
    body["usage"] = usage_object(usage);
    response_->send(json_response(200, body));
  }

  void fail(const ApiError& error) override { response_->send(openai_error(error)); }

 private:
  std::vector<ChatDelta> choices_;
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
