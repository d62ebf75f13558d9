#include "server/api/responses_reply.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/api/base64.h"
#include "server/api/client_calls.h"
#include "server/api/openai_errors.h"
#include "server/api/openai_reply.h"
#include "server/api/reply_parts.h"
#include "server/api/responses_calls.h"
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
      : options_(std::move(options)),
        response_(std::move(response)),
        body_(options_.frame),
        calls_(options_.tools) {}

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
    for (const chat::CallDelta& piece : delta.calls) extend_call(piece);
    if (!delta.finish) return;
    const bool cut = *delta.finish == StopReason::kLength;
    close_item(cut ? "incomplete" : "completed");
    body_["status"] = cut ? "incomplete" : "completed";
    if (cut) body_["incomplete_details"] = {{"reason", "max_output_tokens"}};
  }

  void finish(const ReplyUsage& usage) override {
    body_["usage"] = response_usage(usage);
    if (options_.keep) options_.keep(without_withdrawn());
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

  // Of an item that is about to be added.
  std::string item_id(const char* prefix) const {
    return fmt::format("{}{}", derive_id(prefix, options_.request_id), body_["output"].size());
  }

  std::string id_of(const ClientCall& call) const {
    return call_id("call_", options_.request_id, 0, call.index);
  }

  Json empty_item() const {
    Json item = {{"id", item_id(part_->kind == kMessage ? "msg_" : "rs_")},
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

  // Whatever is open.
  void close_item(const char* status) {
    if (calling_) return end_call("incomplete");
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

  void extend_call(const chat::CallDelta& piece) {
    const ClientCalls::Step step = calls_.take(piece);
    const ClientCall& call = calls_.call();
    const CallForm& form = form_of(call);
    if (step.begins) {
      close_item("completed");
      body_["output"].push_back(call_item(call, item_id(form.id_prefix), id_of(call)));
      calling_ = true;
      put("response.output_item.added", {{"output_index", index()}, {"item", item()}});
    }
    if (form.delta != nullptr && !step.added.empty()) put(form.delta, at_item({{"delta", step.added}}));
    if (step.finished) finish_call(call, form);
    if (step.withdrawn) withdraw_call(call, form);
  }

  void finish_call(const ClientCall& call, const CallForm& form) {
    if (form.done == nullptr) {
      item()[form.member] = arguments_object(call.text);
    } else {
      item()[form.member] = call.text;
      put(form.done, at_item({{"name", call.tool.name}, {form.member, call.text}}));
    }
    end_call("completed");
  }

  // A stream has shown it, so it stays as an item that is incomplete. Some clients execute every item that is
  // done: cut arguments tell by themselves that they are, but of an input nobody could tell.
  void withdraw_call(const ClientCall& call, const CallForm& form) {
    if (!options_.stream) {
      body_["output"].erase(index());
      calling_ = false;
      return;
    }
    if (call.tool.kind == chat::Tool::Kind::kFunction) item()[form.member] = call.text;
    end_call("incomplete");
  }

  void end_call(const char* status) {
    item()["status"] = status;
    put("response.output_item.done", {{"output_index", index()}, {"item", item()}});
    calling_ = false;
  }

  // As the response is read again and continued: the text of a call that was none is in a message behind it.
  Json without_withdrawn() const {
    Json body = body_;
    Json& items = body["output"];
    const auto withdrawn = [](const Json& item) {
      return item.contains("call_id") && item["status"] == "incomplete";
    };
    items.erase(std::remove_if(items.begin(), items.end(), withdrawn), items.end());
    return body;
  }

  size_t index() const { return body_["output"].size() - 1; }
  Json& item() { return body_["output"].back(); }
  Json& part() { return item()[part_->list].back(); }

  Json at_item(const Json& members) {
    Json placed = {{"item_id", item()["id"]}, {"output_index", index()}};
    placed.update(members);
    return placed;
  }

  Json at_part(const Json& members) {
    Json placed = at_item({{part_->index_name, 0}});
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
  ClientCalls calls_;
  const Part* part_ = nullptr;  // of the open item; null: none with parts is open
  bool calling_ = false;        // the last item is a call that may go on
  int events_ = 0;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<ReplyWriter> make_responses_reply(ResponsesReplyOptions options,
                                                  std::shared_ptr<ResponseWriter> response) {
  return std::make_unique<ResponsesReply>(std::move(options), std::move(response));
}

}  // namespace tempo9::server
