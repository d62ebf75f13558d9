// Tool calls as Ollama's chat has them.
#include <gtest/gtest.h>

#include "server/api/json_parse.h"
#include "server/api/ollama_reply.h"
#include "server/testing/played_reply.h"

namespace tempo9::server {
namespace {

using namespace testing;

std::string answer(const std::vector<ChatDelta>& deltas, bool stream) {
  return play(
             [&](auto response) {
               OllamaReplyOptions options;
               options.request_id = "req_0123456789abcdef";
               options.model = "m";
               options.chat = true;
               options.stream = stream;
               return make_ollama_reply(std::move(options), std::move(response));
             },
             deltas)
      .body;
}

// The messages of a stream's lines that say something, and how the last one ends.
std::vector<Json> lines(const std::vector<ChatDelta>& deltas) {
  const std::string body = answer(deltas, true);
  std::vector<Json> messages;
  for (size_t at = 0, end; (end = body.find('\n', at)) != body.npos; at = end + 1) {
    const Json line = *parse_json(body.substr(at, end - at));
    const bool last = line["done"].get<bool>();
    EXPECT_EQ(last, end + 1 == body.size());
    if (last)
      messages.push_back(line["done_reason"]);
    else if (line["message"]["content"] != "" || line["message"].contains("tool_calls"))
      messages.push_back(line["message"]);
  }
  return messages;
}

Json call(const std::string& id, int index, const std::string& name, const Json& arguments) {
  return {{"id", id}, {"function", {{"index", index}, {"name", name}, {"arguments", arguments}}}};
}

const Json kFirst = call("call_0123456789abcdef0000", 0, "get_weather", {{"city", "Paris"}});
const Json kSecond = call("call_0123456789abcdef0001", 1, "now", Json::object());

TEST(OllamaCalls, StandInTheMessage) {
  const Json body = *parse_json(answer(two_calls(), false));
  EXPECT_EQ(body["message"], (Json{{"role", "assistant"},
                                   {"content", "Let me look."},
                                   {"tool_calls", Json::array({kFirst, kSecond})}}));
  EXPECT_EQ(body["done_reason"], "stop");
}

TEST(OllamaCalls, ComeWhole) {
  EXPECT_EQ(lines(two_calls()),
            (std::vector<Json>{
                {{"role", "assistant"}, {"content", "Let me "}},
                {{"role", "assistant"}, {"content", "look."}},
                {{"role", "assistant"}, {"content", ""}, {"tool_calls", Json::array({kFirst, kSecond})}},
                "stop"}));
}

TEST(OllamaCalls, ThatAreWithdrawnAreText) {
  EXPECT_EQ(
      lines(one_withdrawn()),
      (std::vector<Json>{{{"role", "assistant"}, {"content", "<call get_weather Pa"}},
                         {{"role", "assistant"}, {"content", ""}, {"tool_calls", Json::array({kSecond})}},
                         "stop"}));
  const Json message = (*parse_json(answer(one_withdrawn(), false)))["message"];
  EXPECT_EQ(message["tool_calls"], Json::array({kSecond}));
  EXPECT_EQ(message["content"], "<call get_weather Pa");
}

}  // namespace
}  // namespace tempo9::server
