#include "server/api/responses_reply.h"

#include <optional>
#include <utility>

#include "server/api/base64.h"
#include "server/api/openai_errors.h"
#include "server/api/openai_reply.h"
#include "server/api/reply_parts.h"
#include "server/http/sse.h"

namespace tempo9::server {
namespace {

Json response_usage(const ReplyUsage& usage) {
  return {{"input_tokens", usage.prompt_tokens},
          {"input_tokens_details", {{"cached_tokens", usage.cached_tokens}}},
          {"output_tokens", usage.completion_tokens},
          {"output_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens}};
}

// The response grows item by item; whoever asked for a stream sees each step as an event.
class ResponsesReply final : public ReplyWriter {
 public:
  ResponsesReply(ResponsesReplyOptions options, std::shared_ptr<ResponseWriter> response)
      : options_(std::move(options)), response_(std::move(response)), body_(options_.frame) {}

  void begin(int) override {
    begun_ = true;
    body_["status"] = "in_progress";
    if (!options_.stream) return;
    response_->begin_stream({200, event_stream_headers(), [this] {
                               return event("response.in_progress", {{"response", body_}});
                             }});
    put("response.created", {{"response", body_}});
    put("response.in_progress", {{"response", body_}});
  }

  void add(ChatDelta delta) override {
    if (!delta.reasoning.empty()) extend(kReasoning, delta.reasoning, Json::array());
    if (!delta.text.empty() || (!delta.tokens.empty() && delta.reasoning.empty()))
      extend(kMessage, delta.text, options_.logprobs ? logprob_entries(delta.tokens) : Json::array());
    if (!delta.finish) return;
    const bool cut = *delta.finish == StopReason::kLength;
    close_item(cut ? "incomplete" : "completed");
    body_["status"] = cut ? "incomplete" : "completed";
    if (cut) body_["incomplete_details"] = {{"reason", "max_output_tokens"}};
  }

  void finish(const ReplyUsage& usage) override {
    body_["usage"] = response_usage(usage);
    if (options_.keep) options_.keep(body_);
    if (!options_.stream) return response_->send(json_response(200, body_));
    const bool complete = body_["status"] == "completed";
    put(complete ? "response.completed" : "response.incomplete", {{"response", body_}});
    response_->end();
  }

  void fail(const ApiError& error) override {
    if (!options_.stream || !begun_) return response_->send(openai_error(error));
    close_item("incomplete");
    body_["status"] = "failed";
    body_["error"] = {{"code", "server_error"}, {"message", error.message}};
    put("response.failed", {{"response", body_}});
    response_->end();
  }

 private:
  enum Kind { kReasoning, kMessage };

  // What the open item is made of: one part, the names of whose events differ.
  struct Part {
    Kind kind;
    const char* list;        // the item's member that holds it
    const char* index_name;  // in events
    const char* type;        // of the part
    const char* added;
    const char* delta;
    const char* text_done;
    const char* done;
  };

  static const Part& part_of(Kind kind, bool summary) {
    static constexpr Part kText{kMessage,
                                "content",
                                "content_index",
                                "output_text",
                                "response.content_part.added",
                                "response.output_text.delta",
                                "response.output_text.done",
                                "response.content_part.done"};
    static constexpr Part kThought{kReasoning,
                                   "content",
                                   "content_index",
                                   "reasoning_text",
                                   "response.content_part.added",
                                   "response.reasoning_text.delta",
                                   "response.reasoning_text.done",
                                   "response.content_part.done"};
    static constexpr Part kSummary{kReasoning,
                                   "summary",
                                   "summary_index",
                                   "summary_text",
                                   "response.reasoning_summary_part.added",
                                   "response.reasoning_summary_text.delta",
                                   "response.reasoning_summary_text.done",
                                   "response.reasoning_summary_part.done"};
    if (kind == kMessage) return kText;
    return summary ? kSummary : kThought;
  }

  Json empty_part() const {
    Json part = {{"type", part_->type}, {"text", ""}};
    if (part_->kind == kMessage) part.update({{"annotations", Json::array()}, {"logprobs", Json::array()}});
    return part;
  }

  Json empty_item() const {
    const size_t number = body_["output"].size();
    const char* prefix = part_->kind == kMessage ? "msg_" : "rs_";
    Json item = {{"id", fmt::format("{}{}", derive_id(prefix, options_.request_id), number)},
                 {"type", part_->kind == kMessage ? "message" : "reasoning"},
                 {"status", "in_progress"}};
    if (part_->kind == kMessage) item["role"] = "assistant";
    if (part_->kind == kReasoning) item["summary"] = Json::array();
    item[part_->list] = Json::array();
    if (part_->kind == kReasoning) item["encrypted_content"] = nullptr;
    return item;
  }

  void open_item(Kind kind) {
    part_ = &part_of(kind, options_.summary);
    body_["output"].push_back(empty_item());
    put("response.output_item.added", {{"output_index", index()}, {"item", item()}});
    item()[part_->list].push_back(empty_part());
    put(part_->added, at_part({{"part", part()}}));
  }

  void extend(Kind kind, const std::string& text, const Json& logprobs) {
    if (part_ == nullptr || part_->kind != kind) {
      close_item("completed");
      open_item(kind);
    }
    part()["text"].get_ref<std::string&>() += text;
    Json members = {{"delta", text}};
    if (kind == kMessage) {
      for (const Json& entry : logprobs) part()["logprobs"].push_back(entry);
      members["logprobs"] = logprobs;
    }
    put(part_->delta, at_part(std::move(members)));
  }

  void close_item(const char* status) {
    if (part_ == nullptr) return;
    Json members = {{"text", part()["text"]}};
    if (part_->kind == kMessage) members["logprobs"] = part()["logprobs"];
    put(part_->text_done, at_part(std::move(members)));
    put(part_->done, at_part({{"part", part()}}));
    item()["status"] = status;
    if (part_->kind == kReasoning && options_.carries_reasoning)
      item()["encrypted_content"] = pack_reasoning(part()["text"].get_ref<const std::string&>());
    put("response.output_item.done", {{"output_index", index()}, {"item", item()}});
    part_ = nullptr;
  }

  size_t index() const { return body_["output"].size() - 1; }
  Json& item() { return body_["output"].back(); }
  Json& part() { return item()[part_->list].back(); }

  Json at_part(Json members) {
    Json placed = {{"item_id", item()["id"]}, {"output_index", index()}, {part_->index_name, 0}};
    placed.update(members);
    return placed;
  }

  void put(const char* type, const Json& members) {
    if (options_.stream) response_->write(event(type, members));
  }

  std::string event(const char* type, const Json& members) {
    Json body = {{"type", type}, {"sequence_number", events_++}};
    body.update(members);
    return format_event(type, dump_json(body));
  }

  const ResponsesReplyOptions options_;
  const std::shared_ptr<ResponseWriter> response_;
  Json body_;
  const Part* part_ = nullptr;  // of the open item; null: none is open
  int events_ = 0;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<ReplyWriter> make_responses_reply(ResponsesReplyOptions options,
                                                  std::shared_ptr<ResponseWriter> response) {
  return std::make_unique<ResponsesReply>(std::move(options), std::move(response));
}

}  // namespace tempo9::server
