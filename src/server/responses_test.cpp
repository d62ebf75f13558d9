// POST /v1/responses and what is kept of it, over a real socket, with a fake engine.
#include <gtest/gtest.h>

#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;
using std::chrono::milliseconds;

Json request_body(const Json& more = Json::object()) {
  Json body = {{"model", "gpt-5"}, {"input", "Hi"}};
  body.update(more);
  return body;
}

Answer ask_for_response(const TestServer& server, const Json& more = Json::object()) {
  return server.post("/v1/responses", request_body(more));
}

Json streamed(Json more) {
  more["stream"] = true;
  return more;
}

// What a client puts together from the deltas of a stream; checks numbers and order of its events.
class Assembly {
 public:
  explicit Assembly(const Answer& answer) {
    EXPECT_EQ(answer.headers.at("content-type"), "text/event-stream");
    EXPECT_TRUE(answer.complete);
    for (const Json& event : named_events(answer)) {
      EXPECT_EQ(event["sequence_number"], number_++);
      take(event, event["type"]);
    }
    EXPECT_TRUE(over_);
  }
  const Json& response() const { return response_; }

 private:
  void take(const Json& event, const std::string& type) {
    EXPECT_FALSE(over_) << "behind the end: " << event;
    if (event.contains("response")) {
      response_ = event["response"];
      over_ = type != "response.created" && type != "response.in_progress";
      EXPECT_EQ(response_["output"], over_ ? items_ : Json::array());
      return;
    }
    if (type == "response.output_item.added") {
      EXPECT_EQ(event["output_index"], items_.size());
      items_.push_back(event["item"]);
      return;
    }
    Json& item = items_.at(event["output_index"].get<size_t>());
    if (type == "response.output_item.done") {
      for (const char* list : {"content", "summary"}) {
        if (item.contains(list)) {
          EXPECT_EQ(item[list], event["item"][list]);
        }
      }
      item = event["item"];
      return;
    }
    EXPECT_EQ(event["item_id"], item["id"]);
    const bool summary = event.contains("summary_index");
    Json& parts = item[summary ? "summary" : "content"];
    const auto index = event[summary ? "summary_index" : "content_index"].get<size_t>();
    if (type.ends_with("part.added")) {
      EXPECT_EQ(index, parts.size());
      parts.push_back(event["part"]);
      return;
    }
    Json& part = parts.at(index);
    if (type.ends_with(".delta")) {
      part["text"] = part["text"].get<std::string>() + event["delta"].get<std::string>();
      if (event.contains("logprobs"))
        for (const Json& entry : event["logprobs"]) part["logprobs"].push_back(entry);
    } else if (type.ends_with("text.done")) {
      EXPECT_EQ(event["text"], part["text"]);
    } else {
      EXPECT_TRUE(type.ends_with("part.done")) << type;
      EXPECT_EQ(event["part"], part);
    }
  }

  Json response_, items_ = Json::array();
  int number_ = 0;
  bool over_ = false;
};

void drop_ids(Json& response) {
  for (const char* name : {"id", "created_at"}) response.erase(name);
  for (Json& item : response["output"]) item.erase("id");
}

// The same in both modes, ids aside.
Json answered(const TestServer& server, const Json& more = Json::object()) {
  Json whole = body_of(ask_for_response(server, more));
  Json together = Assembly(ask_for_response(server, streamed(more))).response();
  EXPECT_TRUE(whole["id"].get<std::string>().starts_with("resp_"));
  drop_ids(whole), drop_ids(together);
  EXPECT_EQ(whole, together);
  return whole;
}

TEST(Responses, HaveEveryPart) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.cached_tokens = 5; });
  const Json response = answered(server, {{"instructions", "be brief"}, {"temperature", 0.5}});
  EXPECT_EQ(response["object"], "response");
  EXPECT_EQ(response["status"], "completed");
  EXPECT_EQ(response["model"], "fake-model");
  EXPECT_EQ(response["instructions"], "be brief");
  EXPECT_EQ(response["temperature"], 0.5);
  ASSERT_EQ(response["output"].size(), 1u);
  const Json& item = response["output"][0];
  EXPECT_EQ(item["type"], "message");
  EXPECT_EQ(item["role"], "assistant");
  EXPECT_EQ(item["status"], "completed");
  EXPECT_EQ(item["content"], Json::array({{{"type", "output_text"},
                                           {"text", "Hello, world!"},
                                           {"annotations", Json::array()},
                                           {"logprobs", Json::array()}}}));
  const Json& usage = response["usage"];
  EXPECT_EQ(usage["input_tokens"], server.engine.requests()[0].prompt.size());
  EXPECT_EQ(usage["input_tokens_details"]["cached_tokens"], 5);
  EXPECT_EQ(usage["output_tokens"], 14);
  EXPECT_EQ(usage["total_tokens"], usage["input_tokens"].get<int>() + 14);
}

TEST(Responses, ComeInTheProtocolsOrder) {
  TestServer server;
  EXPECT_EQ(types_of(named_events(ask_for_response(server, streamed({})))),
            (std::vector<std::string>{
                "response.created", "response.in_progress", "response.output_item.added",
                "response.content_part.added", "response.output_text.delta", "response.output_text.done",
                "response.content_part.done", "response.output_item.done", "response.completed"}));
}

TEST(Responses, ThinkingIsAnItemOfItsOwn) {
  TestServer server(think);
  server.engine.say("why\n</think>\n\nthus");
  const Json response = answered(server);
  ASSERT_EQ(response["output"].size(), 2u);
  EXPECT_EQ(response["output"][0]["type"], "reasoning");
  EXPECT_EQ(response["output"][0]["summary"], Json::array());
  EXPECT_EQ(response["output"][0]["content"], Json::array({{{"type", "reasoning_text"}, {"text", "why"}}}));
  EXPECT_EQ(response["output"][1]["content"][0]["text"], "thus");
  EXPECT_EQ(response["usage"]["output_tokens_details"]["reasoning_tokens"], 12);  // up to the closing tag
  const Json summarised = answered(server, {{"reasoning", {{"effort", "high"}, {"summary", "auto"}}}});
  EXPECT_EQ(summarised["output"][0]["summary"], Json::array({{{"type", "summary_text"}, {"text", "why"}}}));
  EXPECT_FALSE(summarised["output"][0].contains("content"));
}

// Whatever of the reasoning a client sends back, the model reads it as it wrote it.
TEST(Responses, GiveBackThinkingAsItWas) {
  TestServer server(think);
  server.engine.say("why\n</think>\n\nthus");
  const Json include = Json::array({"reasoning.encrypted_content"});
  for (const Json& summary : {Json(), Json("auto")}) {
    const Json more = {{"include", include}, {"store", false}, {"reasoning", {{"summary", summary}}}};
    const Json output = body_of(ask_for_response(server, more))["output"];
    const std::string before = last_prompt(server.engine);
    for (const bool sealed : {false, true}) {
      Json input = Json::array({{{"role", "user"}, {"content", "Hi"}}});
      for (Json item : output) {
        if (sealed && item["type"] == "reasoning") item["content"] = nullptr;
        input.push_back(item);
      }
      input.push_back({{"role", "user"}, {"content", "and?"}});
      body_of(ask_for_response(server, {{"input", input}}));
      EXPECT_TRUE(last_prompt(server.engine).starts_with(before + "why\n</think>\n\nthus<|end|>"))
          << last_prompt(server.engine);
    }
  }
}

TEST(Responses, AreIncompleteWhereTheLengthCutsThem) {
  TestServer server(think);
  server.engine.say("still thinking about it");
  const Json response = answered(server, {{"max_output_tokens", 14}});
  EXPECT_EQ(response["status"], "incomplete");
  EXPECT_EQ(response["incomplete_details"], (Json{{"reason", "max_output_tokens"}}));
  ASSERT_EQ(response["output"].size(), 1u);
  EXPECT_EQ(response["output"][0]["content"][0]["text"], "still thinking");
  EXPECT_EQ(response["output"][0]["status"], "incomplete");
  const auto events = named_events(ask_for_response(server, streamed({{"max_output_tokens", 14}})));
  EXPECT_EQ(events.back()["type"], "response.incomplete");
}

TEST(Responses, WordsThatLookLikeThinkingAreText) {
  TestServer server([](ServerOptions&, FakeEngine& engine) {
    engine.model().chat_template = std::string("{#</think>#}") + engine.model().chat_template;
  });
  server.engine.say("`<think>x</think>`");
  EXPECT_EQ(answered(server)["output"][0]["content"][0]["text"], "`<think>x</think>`");
}

TEST(Responses, ReportLogprobs) {
  TestServer server;
  server.engine.say("aé");
  const Json part = answered(server, {{"top_logprobs", 2}})["output"][0]["content"][0];
  ASSERT_EQ(part["logprobs"].size(), 3u);
  EXPECT_EQ(part["logprobs"][0]["token"], "a");
  EXPECT_EQ(part["logprobs"][0]["top_logprobs"].size(), 2u);
}

TEST(Responses, TakeAWarmUp) {
  TestServer server;
  const Json response =
      body_of(server.post("/v1/responses", {{"model", "m"}, {"input", ""}, {"max_output_tokens", 1}}));
  EXPECT_EQ(response["status"], "incomplete");
}

// Tools of every kind that Codex declares.
TEST(Responses, TakeToolsOfEveryKind) {
  TestServer server(think);
  const Json member = {{"type", "function"}, {"name", "spawn"}, {"parameters", {{"type", "object"}}}};
  const Json tools = Json::array(
      {{{"type", "function"}, {"name", "run"}, {"strict", false}, {"parameters", {{"type", "object"}}}},
       {{"type", "namespace"}, {"name", "agents"}, {"tools", Json::array({member})}},
       {{"type", "custom"},
        {"name", "patch"},
        {"format", {{"type", "grammar"}, {"syntax", "lark"}, {"definition", "start: /x/"}}}},
       {{"type", "web_search"}, {"external_web_access", true}},
       {{"type", "image_generation"}}});
  const Json response = answered(server, {{"tools", tools}, {"tool_choice", "auto"}});
  EXPECT_EQ(response["tools"], tools);
  const std::string prompt = last_prompt(server.engine);
  for (const char* shown : {"\"run\"", "\"agents__spawn\"", "\"patch\"", "start: /x/"})
    EXPECT_NE(prompt.find(shown), prompt.npos) << shown;
  EXPECT_EQ(prompt.find("web_search"), prompt.npos);
}

TEST(Responses, SilenceIsFilledWithProgress) {
  TestServer server([](ServerOptions& options, FakeEngine&) { options.http.heartbeat = milliseconds(20); });
  server.engine.change([](FakeScript& script) { script.hold = true; });
  RawClient client(server.port());
  client.request("POST", "/v1/responses", dump_json(request_body({{"stream", true}})));
  EXPECT_TRUE(client.receive_text("\"sequence_number\":3"));  // the third is a sign of life
  server.engine.change([](FakeScript& script) { script.hold = false; });
  EXPECT_EQ(Assembly(client.receive()).response()["status"], "completed");
}

TEST(Responses, AnErrorInTheMiddleEndsTheStream) {
  TestServer server;
  server.engine.change([](FakeScript& script) {
    script.step_error = Error{ErrorCode::kInternal, "the device is gone"};
  });
  const Json response = Assembly(ask_for_response(server, streamed({}))).response();
  EXPECT_EQ(response["status"], "failed");
  EXPECT_EQ(response["error"], (Json{{"code", "server_error"}, {"message", "the device is gone"}}));
  EXPECT_EQ(ask_for_response(server).status, 500);
}

TEST(Responses, NameTheFieldThatIsWrong) {
  TestServer server;
  const Json wrong = {{"input", 5}, {"store", "yes"}, {"previous_response_id", 5}, {"background", true}};
  for (const auto& [name, value] : wrong.items()) {
    const Answer answer = ask_for_response(server, Json{{name, value}});
    EXPECT_EQ(answer.status, 400) << name;
    EXPECT_EQ(error_of(answer)["param"], name);
  }
  EXPECT_EQ(ask(server.port(), "POST", "/v1/responses", "[]").status, 400);
  EXPECT_EQ(ask(server.port(), "POST", "/v1/responses", "{").status, 400);
}

TEST(Responses, CountTheirTokens) {
  TestServer server;
  const Json counted = body_of(server.post("/v1/responses/input_tokens", request_body()));
  EXPECT_EQ(counted["object"], "response.input_tokens");
  EXPECT_EQ(counted["input_tokens"], answered(server)["usage"]["input_tokens"]);
}

TEST(Responses, NoSocketIsOpened) {
  TestServer server;
  const Answer answer = ask(server.port(), "GET", "/v1/responses", "",
                            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
  EXPECT_EQ(answer.status, 404);
}

TEST(KeptResponses, AreContinued) {
  TestServer server(think);
  server.engine.say("why</think>one");
  const Json first = body_of(ask_for_response(server, {{"instructions", "be brief"}}));
  server.engine.say("</think>two");
  const Json asked = {{"input", "more"}, {"previous_response_id", first["id"]}};
  const Json second = Assembly(ask_for_response(server, streamed(asked))).response();
  EXPECT_EQ(second["previous_response_id"], first["id"]);
  body_of(ask_for_response(server, {{"input", "still more"}, {"previous_response_id", second["id"]}}));
  EXPECT_EQ(
      last_prompt(server.engine),
      "<|user|>Hi<|end|>\n<|assistant|><think>\nwhy\n</think>\n\none<|end|>\n"
      "<|user|>more<|end|>\n<|assistant|>two<|end|>\n<|user|>still more<|end|>\n<|assistant|><think>\n");
}

TEST(KeptResponses, AreReadAndDeleted) {
  TestServer server;
  const Json response = body_of(ask_for_response(server));
  const std::string path = "/v1/responses/" + response["id"].get<std::string>();
  EXPECT_EQ(body_of(ask(server.port(), "GET", path)), response);
  const Json items = body_of(ask(server.port(), "GET", path + "/input_items"));
  EXPECT_EQ(items["object"], "list");
  ASSERT_EQ(items["data"].size(), 1u);
  EXPECT_EQ(items["data"][0]["content"][0]["text"], "Hi");
  EXPECT_EQ(items["first_id"], items["data"][0]["id"]);
  EXPECT_EQ(body_of(ask(server.port(), "DELETE", path))["deleted"], true);
  for (const char* method : {"GET", "DELETE"}) EXPECT_EQ(ask(server.port(), method, path).status, 404);
}

TEST(KeptResponses, ListTheirInputInPages) {
  TestServer server;
  Json input = Json::array();
  for (const char* id : {"a", "b", "c"}) input.push_back({{"role", "user"}, {"content", id}, {"id", id}});
  const Json response = body_of(ask_for_response(server, {{"input", input}}));
  const auto page = [&](const std::string& query) {
    const std::string path = "/v1/responses/" + response["id"].get<std::string>() + "/input_items" + query;
    const Json list = body_of(ask(server.port(), "GET", path));
    std::string ids;
    for (const Json& item : list["data"]) ids += item["id"];
    return ids + (list["has_more"] == true ? "+" : "");
  };
  EXPECT_EQ(page(""), "cba");
  EXPECT_EQ(page("?order=asc"), "abc");
  EXPECT_EQ(page("?order=asc&limit=2"), "ab+");
  EXPECT_EQ(page("?limit=2&order=asc&after=b"), "c");
}

TEST(KeptResponses, AreOnlyThoseThatShouldBe) {
  TestServer server;
  const Json gone = body_of(ask_for_response(server, {{"store", false}}));
  EXPECT_EQ(ask(server.port(), "GET", "/v1/responses/" + gone["id"].get<std::string>()).status, 404);
  const Answer answer = ask_for_response(server, {{"previous_response_id", gone["id"]}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(error_of(answer)["code"], "previous_response_not_found");
  EXPECT_EQ(error_of(answer)["param"], "previous_response_id");
}

}  // namespace
}  // namespace tempo9::server
