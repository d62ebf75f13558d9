// Completions, models, health and what is at no endpoint, over a real socket.
#include <gtest/gtest.h>

#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;

TEST(Completions, GoesOnFromTheTextAsItStands) {
  TestServer server;
  server.engine.say(" and on");
  const Json body = body_of(server.post("/v1/completions", {{"prompt", "on<|end|>"}, {"max_tokens", 3}}));
  EXPECT_TRUE(body["id"].get<std::string>().starts_with("cmpl-"));
  EXPECT_EQ(body["object"], "text_completion");
  EXPECT_EQ(body["choices"][0]["text"], " an");
  EXPECT_EQ(body["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(body["usage"]["prompt_tokens"], 3);
  const auto prompt = server.engine.requests()[0].prompt;
  EXPECT_EQ(prompt.back(), engine::testing::ByteTokenizer::id(0));  // special tokens are recognised here
}

TEST(Completions, AnswersEachPromptWithEachChoice) {
  TestServer server;
  server.engine.change([](FakeScript& script) {
    script.reply = [](const engine::Request& request) {
      return FakeEngine::bytes(
          fmt::format("{} {}", static_cast<char>(request.prompt[0]), request.sampling.seed % 100));
    };
  });
  const Json asked = {{"prompt", Json::array({"a", "b"})}, {"n", 2}, {"seed", 1}};
  const Json body = body_of(server.post("/v1/completions", asked));
  ASSERT_EQ(body["choices"].size(), 4u);
  EXPECT_EQ(body["choices"][0]["text"], "a 1");
  EXPECT_EQ(body["choices"][2]["text"], "b 1");
  EXPECT_EQ(body["choices"][3]["index"], 3);
  EXPECT_EQ(body["choices"][3]["text"].get<std::string>()[0], 'b');
  EXPECT_EQ(body["usage"]["prompt_tokens"], 2);
}

TEST(Completions, TakesTokenIds) {
  TestServer server;
  body_of(server.post("/v1/completions", {{"prompt", Json::array({72, 105})}}));
  EXPECT_EQ(server.engine.requests()[0].prompt, (std::vector<TokenId>{72, 105}));
}

TEST(Completions, StreamsTheSameTextAndLogprobs) {
  TestServer server;
  server.engine.say("né!");
  const Json asked = {{"prompt", "x"}, {"logprobs", 2}};
  const Json whole = body_of(server.post("/v1/completions", asked))["choices"][0];
  EXPECT_EQ(whole["text"], "né!");
  EXPECT_EQ(whole["logprobs"]["tokens"], Json::array({"n", "\uFFFD", "\uFFFD", "!"}));
  EXPECT_EQ(whole["logprobs"]["text_offset"], Json::array({0, 1, 2, 2}));
  EXPECT_EQ(whole["logprobs"]["token_logprobs"][0], -0.5);
  EXPECT_EQ(whole["logprobs"]["top_logprobs"][0]["o"], -1.5);
  Json streamed = asked;
  streamed["stream"] = true;
  const Answer answer = server.post("/v1/completions", streamed);
  std::string text, finish;
  Json logprobs = {{"tokens", Json::array()},
                   {"token_logprobs", Json::array()},
                   {"top_logprobs", Json::array()},
                   {"text_offset", Json::array()}};
  const auto events = answer.events();
  ASSERT_EQ(events.back(), "[DONE]");
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    const Json choice = (*parse_json(events[i]))["choices"][0];
    text += choice["text"];
    if (!choice["finish_reason"].is_null()) finish = choice["finish_reason"];
    if (choice["logprobs"].is_null()) continue;
    for (auto& [name, list] : logprobs.items())
      for (const Json& entry : choice["logprobs"][name]) list.push_back(entry);
  }
  EXPECT_EQ(Json(text), whole["text"]);
  EXPECT_EQ(finish, "stop");
  EXPECT_EQ(logprobs, whole["logprobs"]);
}

TEST(Completions, ErrorsNameTheField) {
  TestServer server;
  const Answer echo = server.post("/v1/completions", {{"prompt", "x"}, {"echo", true}});
  EXPECT_EQ(echo.status, 400);
  EXPECT_EQ(error_of(echo)["param"], "echo");
  const Answer empty = server.post("/v1/completions", {{"prompt", ""}});
  EXPECT_EQ(empty.status, 400);
  EXPECT_EQ(error_of(empty)["param"], "prompt");
  const Answer longer = server.post("/v1/completions", {{"prompt", std::string(4096, 'x')}});
  EXPECT_EQ(error_of(longer)["code"], "context_length_exceeded");
  EXPECT_EQ(
      error_of(longer)["message"],
      "This model's maximum context length is 4096 tokens. However, your prompt resulted in 4096 tokens. "
      "Please reduce the length of the prompt.");
}

TEST(Models, ListsTheModelForBothFamiliesOfClients) {
  TestServer server;
  const Json body = body_of(ask(server.port(), "GET", "/v1/models"));
  EXPECT_EQ(body["object"], "list");
  EXPECT_EQ(body["has_more"], false);
  EXPECT_EQ(body["first_id"], "fake-model");
  EXPECT_EQ(body["last_id"], "fake-model");
  const Json& model = body["data"][0];
  EXPECT_EQ(model["id"], "fake-model");
  EXPECT_EQ(model["object"], "model");
  EXPECT_EQ(model["type"], "model");
  EXPECT_TRUE(model["created"].is_number_integer());
  EXPECT_EQ(model["created_at"].get<std::string>().size(), 20u);
  EXPECT_EQ(model["owned_by"], "tempo9");
  EXPECT_EQ(model["context_length"], 4096);
  EXPECT_EQ(body_of(ask(server.port(), "GET", "/v1/models/fake-model")), model);
}

TEST(Models, UsesTheIdItWasGiven) {
  TestServer server([](ServerOptions& options, FakeEngine&) { options.service.model_id = "org/my model"; });
  EXPECT_EQ(body_of(ask(server.port(), "GET", "/v1/models"))["data"][0]["id"], "org/my model");
  EXPECT_EQ(ask(server.port(), "GET", "/v1/models/org/my%20model").status, 200);
  EXPECT_EQ(ask(server.port(), "GET", "/v1/models/org%2Fmy%20model").status, 200);
  for (const char* path : {"/v1/models/fake-model", "/v1/models/%ff%", "/v1/models/%zz"}) {
    const Answer answer = ask(server.port(), "GET", path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(error_of(answer)["code"], "model_not_found") << path;
  }
}

TEST(Health, TellsWhatRuns) {
  TestServer server;
  server.engine.change([](FakeScript& script) {
    script.hold = true;
    script.max_running = 1;
  });
  RawClient first(server.port()), second(server.port());
  for (RawClient* client : {&first, &second})
    client->request("POST", "/v1/chat/completions", dump_json(chat_body()));
  ASSERT_TRUE(server.engine.wait_for_submits(2));
  Json body;
  for (int i = 0; i < 200 && (body.is_null() || body["running"] != 1); ++i)
    body = body_of(ask(server.port(), "GET", "/health"));
  EXPECT_EQ(body["status"], "ok");
  EXPECT_EQ(body["model"], "fake-model");
  EXPECT_EQ(body["running"], 1);
  EXPECT_EQ(body["queued"], 1);
}

TEST(Measures, TheSameNumbersForPeopleAndForPrometheus) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.hold = true; });
  RawClient client(server.port());
  client.request("POST", "/v1/chat/completions", dump_json(chat_body()));
  ASSERT_TRUE(server.engine.wait_for_submits(1));
  const Json status = body_of(ask(server.port(), "GET", "/v1/status"));
  EXPECT_EQ(status["status"], "ok");
  EXPECT_EQ(status["requests"]["running"].get<int>() + status["requests"]["queued"].get<int>(), 1);
  EXPECT_TRUE(status["step_seconds"].contains("count"));
  const Answer metrics = ask(server.port(), "GET", "/metrics");
  EXPECT_EQ(metrics.status, 200);
  for (const char* line : {"# TYPE tempo9_requests gauge\n", "tempo9_requests{state=\"running\"} ",
                           "# TYPE tempo9_steps_total counter\n", "tempo9_step_rows_bucket{le=\"+Inf\"} 0\n",
                           "vllm:num_requests_waiting "})
    EXPECT_NE(metrics.body.find(line), std::string::npos) << line << " is missing in\n" << metrics.body;
}

TEST(Root, AnswersThoseWhoKnock) {
  TestServer server;
  const Answer answer = ask(server.port(), "GET", "/");
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find("Tempo9 is running"), std::string::npos);
  const Answer head = ask(server.port(), "HEAD", "/");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
}

TEST(Routes, WhatIsNotThereIsSaidInJson) {
  TestServer server;
  for (const char* path : {"/nothing", "/v1", "/v1/models/", "/v1/chat/completions/", "/V1/models"}) {
    const Answer answer = ask(server.port(), "GET", path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(error_of(answer)["code"], "unknown_url") << path;
  }
  const Answer wrong = ask(server.port(), "GET", "/v1/chat/completions");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("allow"), "POST");
  EXPECT_EQ(error_of(wrong)["code"], "method_not_allowed");
  EXPECT_EQ(ask(server.port(), "DELETE", "/v1/models").headers.at("allow"), "GET, HEAD");
  EXPECT_EQ(ask(server.port(), "GET", "/health?verbose=1").status, 200);
}

TEST(Safety, WebPagesCannotDriveTheServer) {
  TestServer server;
  const std::string body = dump_json(chat_body());
  RawClient rebound(server.port());
  rebound.send("POST /v1/chat/completions HTTP/1.1\r\nHost: evil.example\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body);
  const Answer refused = rebound.receive();
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(error_of(refused)["type"], "invalid_request_error");
  const Answer foreign =
      ask(server.port(), "POST", "/v1/chat/completions", body, "Origin: https://evil.example\r\n");
  EXPECT_EQ(foreign.status, 403);
  for (const char* origin : {"https://evil.example", "http://localhost:3000"}) {
    const Answer preflight =
        ask(server.port(), "OPTIONS", "/v1/chat/completions", "",
            fmt::format("Origin: {}\r\nAccess-Control-Request-Method: POST\r\n", origin));
    EXPECT_GE(preflight.status, 400) << origin;
    EXPECT_FALSE(preflight.headers.contains("access-control-allow-origin")) << origin;
    EXPECT_FALSE(preflight.headers.contains("access-control-allow-methods")) << origin;
  }
  EXPECT_TRUE(server.engine.requests().empty());
  const Answer tool = ask(server.port(), "POST", "/v1/chat/completions", body);
  EXPECT_EQ(tool.status, 200);
  EXPECT_FALSE(tool.headers.contains("access-control-allow-origin"));
}

TEST(Safety, RefusalsBelowTheRoutesAreJsonToo) {
  TestServer server([](ServerOptions& options, FakeEngine&) {
    options.http.api_keys = {"secret"};
    options.http.max_body_bytes = 100;
  });
  const Answer no_key = ask(server.port(), "GET", "/v1/models");
  EXPECT_EQ(no_key.status, 401);
  EXPECT_EQ(error_of(no_key)["code"], "invalid_api_key");
  EXPECT_EQ(no_key.headers.at("www-authenticate"), "Bearer");
  const Answer large =
      ask(server.port(), "POST", "/v1/completions", std::string(200, 'x'), "x-api-key: secret\r\n");
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(error_of(large)["code"], "request_too_large");
  EXPECT_EQ(ask(server.port(), "GET", "/health").status, 200);
}

}  // namespace
}  // namespace tempo9::server
