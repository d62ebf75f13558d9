// What a reply writer makes of deltas that a test has written down, without socket, engine and parser.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/api/chat_delta.h"
#include "server/http/response_writer.h"
#include "server/testing/raw_client.h"

namespace tempo9::server::testing {

// Keeps an answer as its client would receive it.
class RecordedAnswer final : public ResponseWriter {
 public:
  const Answer& answer() const { return answer_; }

  void send(Response response) override {
    answer_.status = response.status;
    answer_.body = std::move(response.body);
    answer_.complete = true;
  }
  void begin_stream(StreamStart start) override { answer_.status = start.status; }
  void write(std::string_view bytes) override { answer_.body += bytes; }
  void end() override { answer_.complete = true; }
  bool closed() const override { return false; }
  void on_closed(std::function<void()>) override {}
  void post(std::function<void()> turn) override { turn(); }
  void note(std::string_view, std::string) override {}

 private:
  Answer answer_;
};

using MakeReply = std::function<std::unique_ptr<ReplyWriter>(std::shared_ptr<ResponseWriter>)>;

inline Answer play(const MakeReply& make, const std::vector<ChatDelta>& deltas) {
  const auto response = std::make_shared<RecordedAnswer>();
  const auto reply = make(response);
  reply->begin(7);
  for (const ChatDelta& delta : deltas) reply->add(delta);
  ReplyUsage usage;
  usage.prompt_tokens = 7;
  usage.completion_tokens = 20;
  reply->finish(usage);
  return response->answer();
}

inline ChatDelta says(std::string text, int choice = 0) {
  ChatDelta delta;
  delta.choice = choice;
  delta.text = std::move(text);
  return delta;
}

inline ChatDelta thinks(std::string text) {
  ChatDelta delta;
  delta.reasoning = std::move(text);
  return delta;
}

inline ChatDelta calls(std::vector<chat::CallDelta> pieces, int choice = 0) {
  ChatDelta delta;
  delta.choice = choice;
  delta.calls = std::move(pieces);
  return delta;
}

inline ChatDelta ends(StopReason reason, int choice = 0) {
  ChatDelta delta;
  delta.choice = choice;
  delta.finish = reason;
  return delta;
}

inline chat::CallDelta begun(int index, std::string name, std::string arguments = "") {
  return {index, std::move(name), std::move(arguments), false, false};
}

inline chat::CallDelta more(int index, std::string arguments) {
  return {index, "", std::move(arguments), false, false};
}

inline chat::CallDelta last(int index, std::string arguments) {
  return {index, "", std::move(arguments), true, false};
}

inline chat::CallDelta complete(int index, std::string name, std::string arguments) {
  return {index, std::move(name), std::move(arguments), true, false};
}

inline chat::CallDelta withdrawn(int index) {
  return {index, "", "", false, true};
}

// Two calls, the first one in pieces, behind a text.
inline std::vector<ChatDelta> two_calls() {
  return {says("Let me "),
          says("look."),
          calls({begun(0, "get_weather", "{\"city\"")}),
          calls({more(0, ": \"Par")}),
          calls({last(0, "is\"}"), complete(1, "now", "{}")}),
          ends(StopReason::kCalls)};
}

// One that turns out to be none, in front of a complete one.
inline std::vector<ChatDelta> one_withdrawn() {
  return {calls({begun(0, "get_weather", "{\"city\": \"Pa")}), calls({withdrawn(0)}),
          says("<call get_weather Pa"), calls({complete(1, "now", "{}")}), ends(StopReason::kCalls)};
}

}  // namespace tempo9::server::testing
