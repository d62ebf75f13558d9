// Ollama's endpoints over a real socket, with a fake engine.
#include <gtest/gtest.h>

#include <cstdio>

#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;
using std::chrono::milliseconds;

Json chat_request(const Json& more = Json::object()) {
  return chat_body(more);
}

std::vector<Json> lines_of(const Answer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.headers.at("content-type"), "application/x-ndjson");
  EXPECT_TRUE(answer.complete);
  std::vector<Json> lines;
  for (size_t at = 0, end = 0; (end = answer.body.find('\n', at)) != answer.body.npos; at = end + 1)
    lines.push_back(parse_json(answer.body.substr(at, end - at)).value_or(Json()));
  return lines;
}

// What a client puts together from the lines: the last one with all of the text.
Json put_together(const Answer& answer) {
  const auto lines = lines_of(answer);
  std::string text, thinking;
  for (const Json& line : lines) {
    EXPECT_EQ(line["done"], &line == &lines.back());
    const Json& part = line.contains("message") ? line["message"] : line;
    text += part.value(line.contains("message") ? "content" : "response", "");
    thinking += part.value("thinking", "");
  }
  Json whole = lines.back();
  if (whole.contains("message")) {
    whole["message"]["content"] = text;
    if (!thinking.empty()) whole["message"]["thinking"] = thinking;
  } else {
    whole["response"] = text;
    if (!thinking.empty()) whole["thinking"] = thinking;
  }
  return whole;
}

// The same in both modes, times aside.
Json answered(const TestServer& server, const char* path, Json body) {
  body["stream"] = false;
  Json whole = body_of(server.post(path, body));
  body.erase("stream");  // a stream is what there is otherwise
  Json together = put_together(server.post(path, body));
  for (const char* name : {"total_duration", "load_duration", "prompt_eval_duration", "eval_duration"}) {
    EXPECT_TRUE(whole[name].is_number_integer()) << name;
    whole.erase(name), together.erase(name);
  }
  for (Json* reply : {&whole, &together}) {
    EXPECT_EQ((*reply)["created_at"].get<std::string>().size(), 20u);
    reply->erase("created_at");
  }
  // The order of members differs where thinking comes in pieces.
  EXPECT_EQ(nlohmann::json::parse(whole.dump()), nlohmann::json::parse(together.dump()));
  return whole;
}

TEST(OllamaChat, HasEveryPart) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.cached_tokens = 5; });
  const Json reply = answered(server, "/api/chat", chat_request());
  EXPECT_EQ(reply["model"], "fake-model");
  EXPECT_EQ(reply["message"], (Json{{"role", "assistant"}, {"content", "Hello, world!"}}));
  EXPECT_EQ(reply["done"], true);
  EXPECT_EQ(reply["done_reason"], "stop");
  EXPECT_EQ(reply["prompt_eval_count"], server.engine.requests()[0].prompt.size());
  EXPECT_EQ(reply["eval_count"], 14);
}

TEST(OllamaChat, IsCalledAsTheClientCallsIt) {
  TestServer server;
  EXPECT_EQ(answered(server, "/api/chat", chat_request({{"model", "llama3:8b"}}))["model"], "llama3:8b");
}

TEST(OllamaChat, ThinkingStandsBesideTheContent) {
  TestServer server(think);
  server.engine.say("why\n</think>\n\nthus");
  const Json message = answered(server, "/api/chat", chat_request({{"think", "medium"}}))["message"];
  EXPECT_EQ(message["thinking"], "why");
  EXPECT_EQ(message["content"], "thus");
}

TEST(OllamaChat, WithoutThinkingTagsAreText) {
  TestServer server(think);
  server.engine.say("`<think>x</think>`");
  const Json message = answered(server, "/api/chat", chat_request({{"think", false}}))["message"];
  EXPECT_EQ(message, (Json{{"role", "assistant"}, {"content", "`<think>x</think>`"}}));
}

TEST(OllamaChat, ThinkingThatTheLengthCutsIsNoContent) {
  TestServer server(think);
  server.engine.say("still thinking about it");
  const Json reply = answered(server, "/api/chat", chat_request({{"options", {{"num_predict", 14}}}}));
  EXPECT_EQ(reply["message"]["thinking"], "still thinking");
  EXPECT_EQ(reply["message"]["content"], "");
  EXPECT_EQ(reply["done_reason"], "length");
}

TEST(OllamaChat, WithoutMessagesLoads) {
  TestServer server;
  for (const Json& messages : {Json::array(), Json()}) {
    const Json reply = body_of(server.post("/api/chat", {{"model", "m"}, {"messages", messages}}));
    EXPECT_EQ(reply["message"], (Json{{"role", "assistant"}, {"content", ""}}));
    EXPECT_EQ(reply["done"], true);
    EXPECT_EQ(reply["done_reason"], "load");
  }
  const Json unload = body_of(server.post("/api/generate", {{"model", "m"}, {"keep_alive", 0}}));
  EXPECT_EQ(unload["done_reason"], "unload");
  EXPECT_EQ(unload["response"], "");
  EXPECT_TRUE(server.engine.requests().empty());
}

TEST(OllamaChat, DeclaresTools) {
  TestServer server(think);
  const Json tool = {{"type", "function"}, {"function", {{"name", "f"}, {"description", "does f"}}}};
  answered(server, "/api/chat", chat_request({{"tools", Json::array({tool})}}));
  EXPECT_NE(last_prompt(server.engine).find("does f"), std::string::npos);
}

TEST(OllamaChat, SilenceIsFilledWithEmptyLines) {
  TestServer server([](ServerOptions& options, FakeEngine&) { options.http.heartbeat = milliseconds(20); });
  server.engine.change([](FakeScript& script) { script.hold = true; });
  RawClient client(server.port());
  client.request("POST", "/api/chat", dump_json(chat_request()));
  EXPECT_TRUE(client.receive_text("\"done\":false}\n\r\n"));   // at once
  EXPECT_TRUE(client.receive_text("\"done\":false}\n\r\n7"));  // and another chunk of over 112 bytes
  server.engine.change([](FakeScript& script) { script.hold = false; });
  EXPECT_EQ(put_together(client.receive())["message"]["content"], "Hello, world!");
}

TEST(OllamaGenerate, AnswersOneMessage) {
  TestServer server;
  const Json reply =
      answered(server, "/api/generate", {{"model", "m"}, {"system", "rules"}, {"prompt", "Hi"}});
  EXPECT_EQ(reply["response"], "Hello, world!");
  EXPECT_EQ(last_prompt(server.engine), "<|system|>rules<|end|>\n<|user|>Hi<|end|>\n<|assistant|>");
}

TEST(OllamaGenerate, RawIsThePromptAsItStands) {
  TestServer server;
  answered(server, "/api/generate", {{"model", "m"}, {"prompt", "<|user|>as is"}, {"raw", true}});
  EXPECT_EQ(last_prompt(server.engine), "<|user|>as is");
}

TEST(OllamaGenerate, LabelsThinking) {
  TestServer server(think);
  server.engine.say("why</think>thus");
  const Json reply = answered(server, "/api/generate", {{"model", "m"}, {"prompt", "Hi"}});
  EXPECT_EQ(reply["thinking"], "why");
  EXPECT_EQ(reply["response"], "thus");
}

TEST(OllamaErrors, AreOneSentence) {
  TestServer server;
  const Answer bad = server.post("/api/chat", chat_request({{"options", {{"temperature", "hot"}}}}));
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(*parse_json(bad.body),
            (Json{{"error", "options.temperature: expected a number, but got a string"}}));
  const Answer format = server.post("/api/chat", chat_request({{"format", "xml"}}));
  EXPECT_EQ(format.status, 400);
  EXPECT_TRUE(error_of(format).get<std::string>().starts_with("format: "));
  EXPECT_EQ(server.post("/api/show", Json::object()).status, 400);
  EXPECT_EQ(ask(server.port(), "POST", "/api/generate", "{").status, 400);
  EXPECT_TRUE(error_of(ask(server.port(), "GET", "/api/nothing")).is_string());
}

TEST(OllamaErrors, EndAStreamAsALine) {
  TestServer server;
  server.engine.change([](FakeScript& script) {
    script.step_error = Error{ErrorCode::kInternal, "the device is gone"};
  });
  EXPECT_EQ(lines_of(server.post("/api/chat", chat_request())).back(),
            (Json{{"error", "the device is gone"}}));
}

TEST(OllamaErrors, NameOtherModelsWhenStrict) {
  TestServer server([](ServerOptions& options, FakeEngine&) { options.service.strict_model = true; });
  const Json other = {{"model", "other"}, {"prompt", ""}};
  for (const char* path : {"/api/chat", "/api/generate", "/api/show", "/api/pull"})
    EXPECT_EQ(server.post(path, other).status, 404) << path;
  EXPECT_EQ(server.post("/api/show", {{"model", "fake-model"}}).status, 200);
}

// What editors and web interfaces look at before they use a server.
TEST(OllamaModels, AreDescribed) {
  TestServer server(think);
  const Json version = body_of(ask(server.port(), "GET", "/api/version"))["version"];
  int major = 0, minor = 0, patch = 0;
  EXPECT_EQ(std::sscanf(version.get<std::string>().c_str(), "%d.%d.%d", &major, &minor, &patch), 3);
  EXPECT_GE(major * 1'000'000 + minor * 1000 + patch, 13'004);  // Codex refuses what is older
  const Json listed = body_of(ask(server.port(), "GET", "/api/tags"))["models"][0];
  const Json running = body_of(ask(server.port(), "GET", "/api/ps"))["models"][0];
  for (const char* name : {"name", "model", "size", "digest", "details"}) {
    EXPECT_TRUE(listed.contains(name)) << name;
    EXPECT_EQ(listed[name], running[name]) << name;
  }
  EXPECT_EQ(listed["name"], "fake-model");
  EXPECT_EQ(listed["digest"].get<std::string>().size(), 64u);
  EXPECT_TRUE(listed.contains("modified_at"));
  EXPECT_TRUE(running.contains("expires_at"));
  EXPECT_EQ(running["context_length"], 4096);
  for (const char* name : {"model", "name"}) {
    const Json shown = body_of(server.post("/api/show", Json{{name, "fake-model"}}));
    EXPECT_EQ(shown["capabilities"], Json::array({"completion", "tools", "thinking"}));
    EXPECT_EQ(shown["model_info"]["fake.context_length"], 4096);
    EXPECT_EQ(shown["template"], kThinkingTemplate);
    EXPECT_EQ(shown["details"], listed["details"]);
  }
  EXPECT_EQ(ask(server.port(), "HEAD", "/").status, 200);
  EXPECT_EQ(server.chat(chat_body()).status, 200);
}

TEST(OllamaModels, ArePulledFromNowhere) {
  TestServer server;
  EXPECT_EQ(body_of(server.post("/api/pull", {{"model", "anything"}, {"stream", false}})),
            (Json{{"status", "success"}}));
}

}  // namespace
}  // namespace tempo9::server
