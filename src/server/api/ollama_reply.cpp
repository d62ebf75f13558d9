#include "server/api/ollama_reply.h"

#include <utility>

#include "server/api/client_calls.h"
#include "server/api/ollama_errors.h"
#include "server/api/openai_reply.h"
#include "server/api/reply_parts.h"

namespace tempo9::server {
namespace {

using Clock = std::chrono::steady_clock;

Json frame(const OllamaReplyOptions& options, const std::string& text, const std::string& thinking) {
  Json body = {{"model", options.model}, {"created_at", utc_time(seconds_now())}};
  Json message = {{"role", "assistant"}, {"content", text}};
  if (options.chat) {
    if (!thinking.empty()) message["thinking"] = thinking;
    body["message"] = std::move(message);
  } else {
    body["response"] = text;
    if (!thinking.empty()) body["thinking"] = thinking;
  }
  body["done"] = false;
  return body;
}

class OllamaReply final : public ReplyWriter {
 public:
  OllamaReply(OllamaReplyOptions options, std::shared_ptr<ResponseWriter> response)
      : options_(std::move(options)), response_(std::move(response)) {}

  void begin(int) override {
    begun_ = true;
    if (!options_.stream) return;
    response_->begin_stream({200,
                             {{"Content-Type", "application/x-ndjson"}, {"X-Accel-Buffering", "no"}},
                             [this] { return line(frame(options_, "", "")); }});
    response_->write(line(frame(options_, "", "")));
  }

  void add(ChatDelta delta) override {
    Json calls = complete_calls(delta);
    if (delta.finish) done_reason_ = *delta.finish == StopReason::kLength ? "length" : "stop";
    Json logprobs = options_.logprobs ? logprob_entries(delta.tokens) : Json::array();
    if (!options_.stream) {
      text_ += delta.text;
      thinking_ += delta.reasoning;
      for (Json& entry : logprobs) logprobs_.push_back(std::move(entry));
      for (Json& call : calls) calls_so_far_.push_back(std::move(call));
      return;
    }
    if (delta.text.empty() && delta.reasoning.empty() && logprobs.empty() && calls.empty()) return;
    Json body = frame(options_, delta.text, delta.reasoning);
    if (!calls.empty()) body["message"]["tool_calls"] = std::move(calls);
    if (!logprobs.empty()) body["logprobs"] = std::move(logprobs);
    response_->write(line(body));
  }

  void finish(const ReplyUsage& usage) override {
    Json body = frame(options_, text_, thinking_);
    if (!calls_so_far_.empty()) body["message"]["tool_calls"] = std::move(calls_so_far_);
    if (!logprobs_.empty()) body["logprobs"] = std::move(logprobs_);
    body.update({{"done", true},
                 {"done_reason", done_reason_},
                 {"total_duration", std::chrono::nanoseconds(Clock::now() - begin_).count()},
                 {"load_duration", 0},  // the model is there before the server is
                 {"prompt_eval_count", usage.prompt_tokens},
                 {"prompt_eval_duration", usage.prompt_time.count()},
                 {"eval_count", usage.completion_tokens},
                 {"eval_duration", usage.generation_time.count()},
                 {"prompt_eval_cached_count", usage.cached_tokens}});
    if (!options_.stream) return response_->send(json_response(200, body));
    response_->write(line(body));
    response_->end();
  }

  void fail(const ApiError& error) override {
    if (!options_.stream || !begun_) return response_->send(ollama_error(error));
    response_->write(line(ollama_error_object(error)));
    response_->end();
  }

 private:
  static std::string line(const Json& body) { return dump_json(body) + "\n"; }

  // Calls have no deltas in this protocol: each comes once it is complete.
  Json complete_calls(const ChatDelta& delta) {
    Json complete = Json::array();
    for (const chat::CallDelta& piece : delta.calls) {
      if (!calls_.take(piece).finished) continue;
      const ClientCall& call = calls_.call();
      complete.push_back(
          {{"id", call_id("call_", options_.request_id, 0, call.index)},
           {"function",
            {{"index", call.index}, {"name", call.tool.name}, {"arguments", arguments_object(call.text)}}}});
    }
    return complete;
  }

  const OllamaReplyOptions options_;
  const std::shared_ptr<ResponseWriter> response_;
  const Clock::time_point begin_ = Clock::now();
  const CalledTools tools_;  // none: the model's names are the client's
  ClientCalls calls_{tools_};
  std::string text_, thinking_, done_reason_ = "stop";
  Json calls_so_far_ = Json::array();  // if they are not streamed
  Json logprobs_ = Json::array();
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<ReplyWriter> make_ollama_reply(OllamaReplyOptions options,
                                               std::shared_ptr<ResponseWriter> response) {
  return std::make_unique<OllamaReply>(std::move(options), std::move(response));
}

Json ollama_load_reply(const OllamaReplyOptions& options, bool unload) {
  Json body = frame(options, "", "");
  body.update({{"done", true}, {"done_reason", unload ? "unload" : "load"}});
  return body;
}

}  // namespace tempo9::server
