// POST /v1/messages and /v1/messages/count_tokens over a real socket, with a fake engine.
#include <gtest/gtest.h>

#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;
using std::chrono::milliseconds;

Json message_body(const Json& more = Json::object()) {
  Json body = {{"model", "claude"},
               {"max_tokens", 1000},
               {"messages", Json::array({{{"role", "user"}, {"content", "Hi"}}})}};
  body.update(more);
  return body;
}

const Json kThinking = {{"thinking", {{"type", "adaptive"}}}};

Answer ask_for_message(const TestServer& server, const Json& more = Json::object()) {
  return server.post("/v1/messages?beta=true", message_body(more));
}

Json streamed(Json more) {
  more["stream"] = true;
  return more;
}

// What a client puts together from a stream; checks the order of its events.
Json put_together(const Answer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.headers.at("content-type"), "text/event-stream");
  EXPECT_TRUE(answer.complete);
  Json message;
  bool open = false;
  for (const Json& event : named_events(answer)) {
    const std::string type = event["type"];
    EXPECT_FALSE(message.contains("over")) << "behind the end: " << event;
    if (type == "message_start") {
      message = event["message"];
    } else if (type == "content_block_start") {
      EXPECT_FALSE(open);
      EXPECT_EQ(event["index"], message["content"].size());
      message["content"].push_back(event["content_block"]);
      open = true;
    } else if (type == "content_block_delta") {
      EXPECT_TRUE(open);
      EXPECT_EQ(event["index"], message["content"].size() - 1);
      const std::string kind = event["delta"]["type"], member = kind.substr(0, kind.find("_delta"));
      Json& text = message["content"].back()[member];
      text = text.get<std::string>() + event["delta"][member].get<std::string>();
    } else if (type == "content_block_stop") {
      EXPECT_EQ(event["index"], message["content"].size() - 1);
      EXPECT_TRUE(std::exchange(open, false));
    } else if (type == "message_delta") {
      EXPECT_FALSE(open);
      message.update(event["delta"]);
      message["usage"].update(event["usage"]);
    } else if (type == "message_stop") {
      message["over"] = true;
    } else {
      EXPECT_EQ(type, "ping");
    }
  }
  EXPECT_EQ(message.erase("over"), 1u);
  return message;
}

// The same in both modes, ids aside.
Json answered(const TestServer& server, const Json& more = Json::object()) {
  Json whole = body_of(ask_for_message(server, more));
  Json together = put_together(ask_for_message(server, streamed(more)));
  for (Json* message : {&whole, &together}) {
    EXPECT_TRUE((*message)["id"].get<std::string>().starts_with("msg_"));
    message->erase("id");
  }
  EXPECT_EQ(whole, together);
  return whole;
}

Json text_block(const std::string& text) {
  return {{"type", "text"}, {"text", text}};
}

TEST(AnthropicReplies, HaveEveryPart) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.cached_tokens = 5; });
  const Json message = answered(server);
  EXPECT_EQ(message["type"], "message");
  EXPECT_EQ(message["role"], "assistant");
  EXPECT_EQ(message["model"], "fake-model");
  EXPECT_EQ(message["content"], Json::array({text_block("Hello, world!")}));
  EXPECT_EQ(message["stop_reason"], "end_turn");
  EXPECT_TRUE(message["stop_sequence"].is_null());
  const Json& usage = message["usage"];
  EXPECT_EQ(usage["input_tokens"].get<size_t>() + 5, server.engine.requests()[0].prompt.size());
  EXPECT_EQ(usage["cache_read_input_tokens"], 5);
  EXPECT_EQ(usage["cache_creation_input_tokens"], 0);
  EXPECT_EQ(usage["output_tokens"], 14);
}

TEST(AnthropicReplies, ComeInTheProtocolsOrder) {
  TestServer server;
  const Answer answer = ask_for_message(server, streamed({}));
  EXPECT_EQ(types_of(named_events(answer)),
            (std::vector<std::string>{"message_start", "ping", "content_block_start", "content_block_delta",
                                      "content_block_stop", "message_delta", "message_stop"}));
  const Json start = named_events(answer)[0]["message"];
  EXPECT_EQ(start["content"], Json::array());
  EXPECT_GT(start["usage"]["input_tokens"], 0);
  EXPECT_EQ(answer.headers.at("request-id"), answer.headers.at("x-request-id"));
}

TEST(AnthropicReplies, ThinkingIsABlockOfItsOwn) {
  TestServer server(think);
  server.engine.say("a\n\nb\n</think>\n\nThe `<think>` tag.");
  const Json message = answered(server, kThinking);
  ASSERT_EQ(message["content"].size(), 2u);
  const Json& thinking = message["content"][0];
  EXPECT_EQ(thinking["type"], "thinking");
  EXPECT_EQ(thinking["thinking"], "a\n\nb");
  EXPECT_NE(thinking["signature"], "");
  EXPECT_EQ(message["content"][1], text_block("The `<think>` tag."));
  const auto types = types_of(named_events(ask_for_message(server, streamed(kThinking))));
  EXPECT_EQ(std::ranges::count(types, "content_block_start"), 2);
}

TEST(AnthropicReplies, ThinkingThatTheLengthCutsIsNoText) {
  TestServer server(think);
  server.engine.say("still thinking about it");
  Json more = kThinking;
  more["max_tokens"] = 14;
  const Json message = answered(server, more);
  ASSERT_EQ(message["content"].size(), 1u);
  EXPECT_EQ(message["content"][0]["thinking"], "still thinking");
  EXPECT_EQ(message["stop_reason"], "max_tokens");
}

TEST(AnthropicReplies, WordsThatLookLikeThinkingAreText) {
  TestServer server(think);
  server.engine.say("`<think>x</think>`");
  EXPECT_EQ(answered(server)["content"], Json::array({text_block("`<think>x</think>`")}));
}

TEST(AnthropicReplies, GiveBackThinkingAsItWas) {
  TestServer server(think);
  server.engine.say("why\n</think>\n\nthus");
  const Json first = body_of(ask_for_message(server, kThinking));
  const std::string before = last_prompt(server.engine);
  Json messages = message_body()["messages"];
  messages.push_back({{"role", "assistant"}, {"content", first["content"]}});
  messages.push_back({{"role", "user"}, {"content", "and?"}});
  Json more = kThinking;
  more["messages"] = messages;
  body_of(ask_for_message(server, more));
  EXPECT_TRUE(last_prompt(server.engine).starts_with(before + "why\n</think>\n\nthus<|end|>"))
      << last_prompt(server.engine);
}

TEST(AnthropicReplies, SayWhichStopSequenceEndedThem) {
  TestServer server;
  server.engine.say("one STOP two");
  const Json message = answered(server, {{"stop_sequences", Json::array({"never", " STOP"})}});
  EXPECT_EQ(message["content"], Json::array({text_block("one")}));
  EXPECT_EQ(message["stop_reason"], "stop_sequence");
  EXPECT_EQ(message["stop_sequence"], " STOP");
}

TEST(AnthropicReplies, AnEmptyReplyHasNoBlocks) {
  TestServer server;
  server.engine.say("");
  EXPECT_EQ(answered(server)["content"], Json::array());
}

TEST(AnthropicWaiting, PingsFillTheSilence) {
  TestServer server([](ServerOptions& options, FakeEngine&) { options.http.heartbeat = milliseconds(20); });
  server.engine.change([](FakeScript& script) { script.hold = true; });
  RawClient client(server.port());
  client.request("POST", "/v1/messages", dump_json(message_body({{"stream", true}})));
  EXPECT_TRUE(client.receive_text("event: ping"));                                   // at once
  EXPECT_TRUE(client.receive_text("{\"type\":\"ping\"}\n\n\r\n23\r\nevent: ping"));  // and one more
  server.engine.change([](FakeScript& script) { script.hold = false; });
  EXPECT_EQ(put_together(client.receive())["content"], Json::array({text_block("Hello, world!")}));
}

// Clients that count content alone are kept by an early block of thinking.
TEST(AnthropicWaiting, ThinkingClientsGetContent) {
  for (const char* reply : {"why</think>thus", "</think>thus"}) {
    TestServer server([](ServerOptions& options, FakeEngine& engine) {
      options.http.heartbeat = milliseconds(20);
      think(options, engine);
    });
    server.engine.say(reply);
    server.engine.change([](FakeScript& script) { script.hold = true; });
    RawClient client(server.port());
    client.request("POST", "/v1/messages", dump_json(message_body(streamed(kThinking))));
    EXPECT_TRUE(client.receive_text("\"thinking_delta\",\"thinking\":\"\""));
    server.engine.change([](FakeScript& script) { script.hold = false; });
    const Json message = put_together(client.receive());
    ASSERT_EQ(message["content"].size(), 2u);
    EXPECT_EQ(message["content"][0]["thinking"], std::string(reply).substr(0, std::string(reply).find('<')));
    EXPECT_EQ(message["content"][1], text_block("thus"));
  }
}

TEST(AnthropicPrompts, TheAttributionLineDoesNotChangeThem) {
  TestServer server;
  const auto prompt = [&](const std::string& mark) {
    const std::string line = "x-anthropic-billing-header: cc_version=1; cc_entrypoint=cli; cch=" + mark + ";";
    const Json system = Json::array({text_block(line), text_block(std::string(1000, 'x'))});
    const Json user = {{"role", "user"}, {"content", "x-anthropic-billing-header: mine"}};
    body_of(ask_for_message(server, {{"system", system}, {"messages", Json::array({user})}}));
    return last_prompt(server.engine);
  };
  const std::string first = prompt("AAAAA");
  EXPECT_EQ(first, prompt("BBBBB"));
  EXPECT_EQ(first.find("cc_version"), first.npos);
  EXPECT_NE(first.find("x-anthropic-billing-header: mine"), first.npos);
}

TEST(AnthropicPrompts, CacheMarksAndFormsOfTextDoNotChangeThem) {
  TestServer server;
  const auto prompt = [&](const Json& content) {
    const Json message = {{"role", "user"}, {"content", content}};
    body_of(ask_for_message(server, {{"messages", Json::array({message})}}));
    return last_prompt(server.engine);
  };
  Json marked = text_block("same");
  marked["cache_control"] = {{"type", "ephemeral"}};
  EXPECT_EQ(prompt("same"), prompt(Json::array({text_block("same")})));
  EXPECT_EQ(prompt("same"), prompt(Json::array({marked})));
}

TEST(AnthropicPrompts, DeclareToolsWithTheirKeysInOrder) {
  TestServer server(think);
  const Json schema = {{"type", "object"}, {"properties", {{"z", Json::object()}, {"a", Json::object()}}}};
  const Json tool = {{"name", "f"}, {"description", "does f"}, {"input_schema", schema}};
  body_of(ask_for_message(server, {{"tools", Json::array({tool})}, {"tool_choice", {{"type", "auto"}}}}));
  const std::string prompt = last_prompt(server.engine);
  EXPECT_LT(prompt.find("\"z\""), prompt.find("\"a\""));
  EXPECT_NE(prompt.find("does f"), prompt.npos);
}

// Every part of a result reaches the model once, and ids match.
TEST(AnthropicPrompts, ShowEveryPartOfAResult) {
  TestServer server(think);
  const Json call = {{"type", "tool_use"}, {"id", "toolu_1"}, {"name", "f"}, {"input", {{"k", "v"}}}};
  const Json result = {{"type", "tool_result"},
                       {"tool_use_id", "toolu_1"},
                       {"is_error", true},
                       {"content", Json::array({text_block("part one"), text_block("part two")})}};
  const Json messages = Json::array({{{"role", "user"}, {"content", "go"}},
                                     {{"role", "assistant"}, {"content", Json::array({call})}},
                                     {{"role", "user"}, {"content", Json::array({result})}}});
  body_of(ask_for_message(server, {{"messages", messages}}));
  const std::string prompt = last_prompt(server.engine);
  for (const char* part : {"part one", "part two", "[f {\"k\": \"v\"}]"}) {
    EXPECT_NE(prompt.find(part), prompt.npos) << part << " in " << prompt;
    EXPECT_EQ(prompt.find(part), prompt.rfind(part)) << part;
  }
  EXPECT_EQ(prompt.find("toolu_1"), prompt.npos);
}

TEST(AnthropicPrompts, PicturesAreRefusedByName) {
  TestServer server(think);
  const Json source = {{"type", "base64"}, {"media_type", "image/png"}, {"data", "cG5n"}};
  const Json content = Json::array({{{"type", "image"}, {"source", source}}});
  const Json messages = Json::array({{{"role", "user"}, {"content", content}}});
  const Answer answer = ask_for_message(server, {{"messages", messages}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(error_of(answer)["message"],
            "messages[0].content[0].source.data: this model does not take images");
}

TEST(AnthropicCounting, AgreesWithAReply) {
  TestServer server;
  const Json counted = body_of(server.post("/v1/messages/count_tokens?beta=true", message_body()));
  EXPECT_TRUE(server.engine.requests().empty());
  EXPECT_EQ(counted, (Json{{"input_tokens", answered(server)["usage"]["input_tokens"]}}));
}

TEST(AnthropicCounting, HasNoLimitOfLength) {
  TestServer server;
  const Json message = {{"role", "user"}, {"content", std::string(5000, 'x')}};
  const Json body = {{"model", "m"}, {"messages", Json::array({message})}, {"tools", Json::array()}};
  EXPECT_EQ(body_of(server.post("/v1/messages/count_tokens", body))["input_tokens"], 5004);
}

TEST(AnthropicErrors, HaveTheirForm) {
  TestServer server;
  const Answer bad = ask_for_message(server, {{"max_tokens", "many"}});
  EXPECT_EQ(bad.status, 400);
  const Json body = *parse_json(bad.body);
  EXPECT_EQ(body["type"], "error");
  EXPECT_EQ(body["error"]["type"], "invalid_request_error");
  EXPECT_EQ(body["error"]["message"], "max_tokens: expected an integer, but got a string");
  EXPECT_EQ(body["request_id"], bad.headers.at("request-id"));
  EXPECT_EQ(server.post("/v1/messages/count_tokens", Json::object()).status, 400);
  const Json forced = {{"tools", Json::array({{{"name", "f"}}})}, {"tool_choice", {{"type", "any"}}}};
  EXPECT_EQ(error_of(ask_for_message(server, forced))["message"],
            "tool_choice: it is not known how this model calls tools, so it cannot be held to it");
}

TEST(AnthropicErrors, NameOtherModelsWhenStrict) {
  TestServer server([](ServerOptions& options, FakeEngine&) { options.service.strict_model = true; });
  for (const char* path : {"/v1/messages", "/v1/messages/count_tokens"}) {
    const Answer answer = server.post(path, message_body());
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(error_of(answer)["type"], "not_found_error");
  }
}

TEST(AnthropicErrors, ReachAClientInTheMiddleOfAStream) {
  TestServer server;
  server.engine.change([](FakeScript& script) {
    script.step_error = Error{ErrorCode::kInternal, "the device is gone"};
  });
  EXPECT_EQ(ask_for_message(server).status, 500);
  const auto events = named_events(ask_for_message(server, streamed({})));
  EXPECT_EQ(events.back()["type"], "error");
  EXPECT_EQ(events.back()["error"], (Json{{"type", "api_error"}, {"message", "the device is gone"}}));
}

TEST(AnthropicErrors, BelowTheRoutesHaveTheirFormToo) {
  TestServer server([](ServerOptions& options, FakeEngine&) {
    options.http.api_keys = {"secret"};
    options.http.max_body_bytes = 100;
  });
  const auto type_of = [&](std::string_view method, std::string_view path, const std::string& body,
                           std::string_view headers) {
    const Json answer = *parse_json(ask(server.port(), method, path, body, headers).body);
    EXPECT_EQ(answer["type"], "error");
    return answer["error"]["type"];
  };
  EXPECT_EQ(type_of("POST", "/v1/messages", "{}", ""), "authentication_error");
  EXPECT_EQ(type_of("POST", "/v1/messages", "{}", "Authorization: Bearer secret\r\n"),
            "invalid_request_error");
  EXPECT_EQ(type_of("POST", "/v1/messages", std::string(200, 'x'), "x-api-key: secret\r\n"),
            "request_too_large");
  EXPECT_EQ(type_of("GET", "/v1/messages/batches", "", "x-api-key: secret\r\n"), "not_found_error");
}

TEST(AnthropicModels, AreFoundInTheirForm) {
  TestServer server;
  const std::string version = "anthropic-version: 2023-06-01\r\n";
  const Json list = body_of(ask(server.port(), "GET", "/v1/models?limit=1000", "", version));
  EXPECT_EQ(list["has_more"], false);
  EXPECT_EQ(list["data"][0]["type"], "model");
  const Answer missing = ask(server.port(), "GET", "/v1/models/other", "", version);
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(error_of(missing)["type"], "not_found_error");
}

}  // namespace
}  // namespace tempo9::server
