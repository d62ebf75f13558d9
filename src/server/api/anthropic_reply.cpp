#include "server/api/anthropic_reply.h"

#include <utility>

#include "server/api/anthropic_errors.h"
#include "server/api/client_calls.h"
#include "server/api/json_parse.h"
#include "server/api/reply_parts.h"
#include "server/http/sse.h"

namespace tempo9::server {
namespace {

// Clients send thinking back only with a signature, and never look into it.
constexpr const char* kSignature = "dGVtcG85";

const char* stop_text(StopReason reason) {
  switch (reason) {
    case StopReason::kEnd:
      return "end_turn";
    case StopReason::kStopString:
      return "stop_sequence";
    case StopReason::kCalls:
      return "tool_use";
    case StopReason::kLength:
      return "max_tokens";
  }
  return "end_turn";
}

// The message grows block by block; whoever asked for a stream sees each step as an event.
class AnthropicReply final : public ReplyWriter {
 public:
  AnthropicReply(AnthropicReplyOptions options, std::shared_ptr<ResponseWriter> response)
      : options_(std::move(options)), response_(std::move(response)) {}

  void begin(int prompt_tokens) override {
    begun_ = true;
    if (!options_.stream) return;
    response_->begin_stream({200, event_stream_headers(), [this] { return fill_silence(); }});
    ReplyUsage usage;
    usage.prompt_tokens = prompt_tokens;
    put("message_start", {{"message", message(usage)}});
    put("ping", Json::object());
  }

  void add(ChatDelta delta) override {
    if (!delta.reasoning.empty()) extend("thinking", "thinking_delta", delta.reasoning);
    if (!delta.text.empty()) extend("text", "text_delta", delta.text);
    for (const chat::CallDelta& piece : delta.calls) extend_call(piece);
    if (!delta.finish) return;
    close_block();
    stop_reason_ = stop_text(*delta.finish);
    if (*delta.finish == StopReason::kStopString) stop_sequence_ = std::move(delta.stop_string);
  }

  void finish(const ReplyUsage& usage) override {
    if (!options_.stream) return response_->send(json_response(200, message(usage)));
    put("message_delta", {{"delta", {{"stop_reason", stop_reason_}, {"stop_sequence", stop_sequence_}}},
                          {"usage", usage_object(usage)}});
    put("message_stop", Json::object());
    response_->end();
  }

  void fail(const ApiError& error) override {
    if (!options_.stream || !begun_) return response_->send(anthropic_error(error, options_.request_id));
    response_->write(format_event("error", dump_json(anthropic_error_object(error, options_.request_id))));
    response_->end();
  }

 private:
  static Json usage_object(const ReplyUsage& usage) {
    return {{"input_tokens", usage.prompt_tokens - usage.cached_tokens},
            {"cache_creation_input_tokens", 0},
            {"cache_read_input_tokens", usage.cached_tokens},
            {"output_tokens", usage.completion_tokens}};
  }

  Json message(const ReplyUsage& usage) const {
    return {{"id", derive_id("msg_", options_.request_id)},
            {"type", "message"},
            {"role", "assistant"},
            {"model", options_.model},
            {"content", content_},
            {"stop_reason", stop_reason_},
            {"stop_sequence", stop_sequence_},
            {"usage", usage_object(usage)}};
  }

  void put(const char* type, Json members) { response_->write(event(type, std::move(members))); }

  static std::string event(const char* type, Json members) {
    Json body = {{"type", type}};
    body.update(members);
    return format_event(type, dump_json(body));
  }

  Json at_block(Json members) const {
    Json placed = {{"index", content_.size() - 1}};
    placed.update(members);
    return placed;
  }

  // A block begins empty: its content comes in deltas.
  std::string open_block(Json block) {
    content_.push_back(std::move(block));
    open_ = true;
    return event("content_block_start", at_block({{"content_block", content_.back()}}));
  }

  std::string delta_event(const char* type, const char* member, const std::string& text) const {
    return event("content_block_delta", at_block({{"delta", {{"type", type}, {member, text}}}}));
  }

  void close_block() {
    if (!std::exchange(open_, false)) return;
    if (content_.back()["type"] == "thinking") {
      content_.back()["signature"] = kSignature;
      if (options_.stream) response_->write(delta_event("signature_delta", "signature", kSignature));
    }
    if (options_.stream) put("content_block_stop", at_block(Json::object()));
  }

  // Text for a block of this type, in which the text is the member of the same name.
  void extend(const char* type, const char* delta_type, const std::string& text) {
    if (!open_ || content_.back()["type"] != type) {
      close_block();
      const std::string event = open_block(empty_block(type));
      if (options_.stream) response_->write(event);
    }
    content_.back()[type].get_ref<std::string&>() += text;
    if (options_.stream) response_->write(delta_event(delta_type, type, text));
  }

  void extend_call(const chat::CallDelta& piece) {
    const ClientCalls::Step step = calls_.take(piece);
    const ClientCall& call = calls_.call();
    if (step.begins) {
      close_block();
      show_call(call, open_block({{"type", "tool_use"},
                                  {"id", call_id("toolu_", options_.request_id, 0, call.index)},
                                  {"name", call.tool.name},
                                  {"input", Json::object()}}));
    }
    if (!step.added.empty()) show_call(call, delta_event("input_json_delta", "partial_json", step.added));
    if (step.finished) {
      content_.back()["input"] = arguments_object(call.text);
      if (options_.stream) response_->write(std::exchange(held_call_, {}));
      close_block();
    } else if (step.withdrawn) {
      withdraw(call);
    }
  }

  void show_call(const ClientCall& call, const std::string& event) {
    if (!options_.stream) return;
    if (call.tool.eager) return response_->write(event);
    held_call_ += event;
  }

  void withdraw(const ClientCall& call) {
    if (options_.stream && call.tool.eager) return close_block();  // its input ends as no JSON
    content_.erase(content_.size() - 1);
    held_call_.clear();
    open_ = false;
  }

  static Json empty_block(const char* type) {
    Json block = {{"type", type}, {type, ""}};
    if (block["type"] == "thinking") block["signature"] = "";
    return block;
  }

  // Some clients count content alone as a sign of life, and give up within a long prompt if only pings come.
  // One that takes thinking gets a block of it, in which the thinking goes on once there is some.
  std::string fill_silence() {
    std::string events;
    if (options_.thinking && content_.empty()) events = open_block(empty_block("thinking"));
    if (open_ && content_.back()["type"] == "thinking")
      return events + delta_event("thinking_delta", "thinking", "");
    return event("ping", Json::object());
  }

  const AnthropicReplyOptions options_;
  const std::shared_ptr<ResponseWriter> response_;
  ClientCalls calls_{options_.tools};
  Json content_ = Json::array();
  Json stop_reason_, stop_sequence_;  // null until known
  bool begun_ = false;
  bool open_ = false;  // the last block may grow
  // The events of a call that is not complete yet. Nothing takes a block back that has begun, and clients
  // make arguments of input that ends within (of `{"a": 1` as of `{`), so who has not asked for calls in
  // pieces is shown complete ones only.
  std::string held_call_;
};

}  // namespace

std::unique_ptr<ReplyWriter> make_anthropic_reply(AnthropicReplyOptions options,
                                                  std::shared_ptr<ResponseWriter> response) {
  return std::make_unique<AnthropicReply>(std::move(options), std::move(response));
}

}  // namespace tempo9::server
