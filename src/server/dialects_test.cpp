// What holds for every dialect that generates: waiting, leaving, and the errors that clients act on.
#include <gtest/gtest.h>

#include <regex>

#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Dialect {
  const char* name;
  const char* path;
  Json (*body)(const Json& conversation);  // of messages with a role and a text
  const char* first_event;                 // comes before the first token
  int busy_status;
  const char* too_long;  // how its clients know an over-long prompt
  Json limit;            // a reply of at most 1000 tokens
};

Json as_messages(const Json& conversation) {
  return {{"model", "m"}, {"messages", conversation}};
}

const Dialect kDialects[] = {
    {"Chat",
     "/v1/chat/completions",
     as_messages,
     "\"role\":\"assistant\"",
     503,
     "maximum context length is [0-9]+ tokens.*reduce the length of the messages",
     {{"max_tokens", 1000}}},
    {"Responses",
     "/v1/responses",
     [](const Json& conversation) {
       return Json{{"model", "m"}, {"input", conversation}};
     },
     "response.in_progress",
     503,
     "maximum context length is [0-9]+ tokens",
     {{"max_output_tokens", 1000}}},
    {"Messages",
     "/v1/messages",
     as_messages,
     "event: ping",
     529,
     "prompt is too long: [0-9]+ tokens > [0-9]+ maximum",
     {{"max_tokens", 1000}}},
    {"Ollama",
     "/api/chat",
     as_messages,
     "\"done\":false",
     503,
     "maximum context length is [0-9]+ tokens",
     {{"options", {{"num_predict", 1000}}}}},
};

class EveryDialect : public ::testing::TestWithParam<Dialect> {
 protected:
  static Json message(const char* role, const std::string& text) {
    return {{"role", role}, {"content", text}};
  }
  static Json body(const Json& conversation, bool stream = true) {
    Json body = GetParam().body(conversation);
    body["stream"] = stream;
    return body;
  }
  static Json smallest(bool stream = true) { return body(Json::array({message("user", "Hi")}), stream); }
  static void send(RawClient& client, bool stream = true) {
    client.request("POST", GetParam().path, dump_json(smallest(stream)));
  }
};
INSTANTIATE_TEST_SUITE_P(All, EveryDialect, ::testing::ValuesIn(kDialects),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(EveryDialect, BeginsAtOnceAndGoesOn) {
  TestServer server([](ServerOptions& options, FakeEngine&) { options.http.heartbeat = milliseconds(20); });
  server.engine.change([](FakeScript& script) { script.prefill = milliseconds(200); });
  RawClient client(server.port());
  send(client);
  EXPECT_TRUE(client.receive_text(GetParam().first_event));
  EXPECT_EQ(server.engine.tokens_given(), 0);
  const Answer answer = client.receive();
  EXPECT_TRUE(answer.complete);
  EXPECT_NE(answer.body.find("!"), std::string::npos);
}

TEST_P(EveryDialect, LeavingCancels) {
  for (const bool stream : {true, false}) {
    TestServer server;
    server.engine.change([](FakeScript& script) {
      script.max_running = 1;
      script.prefill = seconds(60);
    });
    RawClient running(server.port()), queued(server.port());
    send(running, stream);
    ASSERT_TRUE(server.engine.wait_for_submits(1));
    send(queued, stream);
    ASSERT_TRUE(server.engine.wait_for_submits(2));
    queued.close();
    EXPECT_TRUE(server.engine.wait_for_cancels(1));
    running.close_writing();
    EXPECT_TRUE(server.engine.wait_for_cancels(2));
    EXPECT_EQ(server.engine.tokens_given(), 0);
  }
}

TEST_P(EveryDialect, LeavingInTheDecodeCancels) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.step = milliseconds(5); });
  server.engine.say(std::string(100000, 'x'));
  RawClient client(server.port());
  send(client);
  EXPECT_TRUE(client.receive_text("x"));
  client.close();
  EXPECT_TRUE(server.engine.wait_for_cancels(1));
}

TEST_P(EveryDialect, AFullServerSaysWhenToComeBack) {
  TestServer server;
  server.engine.change([](FakeScript& script) {
    script.submit_error = Error{ErrorCode::kBusy, "the queue is full"};
  });
  for (const bool stream : {false, true}) {
    const Answer answer = server.post(GetParam().path, smallest(stream));
    EXPECT_EQ(answer.status, GetParam().busy_status);
    EXPECT_GE(std::stoi(answer.headers.at("retry-after")), 1);
    EXPECT_NE(answer.body.find("the queue is full"), std::string::npos);
  }
}

// A prompt that leaves no room is refused with numbers, in words that clients look for; one that
// leaves some is answered up to the end of the context.
TEST_P(EveryDialect, TheContextIsNeverCutInSilence) {
  TestServer server;
  server.engine.change([](FakeScript& script) {
    script.reply = [](const engine::Request& request) {
      const size_t room = 4096 - request.prompt.size();
      return std::vector<TokenId>(std::min(room, static_cast<size_t>(request.max_new_tokens)), 'x');
    };
  });
  const size_t frame = 4;  // <|user|> <|end|> newline <|assistant|>
  const auto ask_for = [&](size_t tokens) {
    Json asked = body(Json::array({message("user", std::string(tokens - frame, 'x'))}), false);
    asked.update(GetParam().limit);
    return server.post(GetParam().path, asked);
  };
  for (const size_t tokens : {4096u, 4097u}) {
    const Answer answer = ask_for(tokens);
    EXPECT_EQ(answer.status, 400);
    EXPECT_TRUE(std::regex_search(answer.body, std::regex(GetParam().too_long))) << answer.body;
    EXPECT_NE(answer.body.find(std::to_string(tokens)), std::string::npos) << answer.body;
    EXPECT_NE(answer.body.find("context_length_exceeded"), std::string::npos) << answer.body;
  }
  EXPECT_EQ(ask_for(4095).status, 200);
}

TEST_P(EveryDialect, OtherModelsAreServedUnlessStrict) {
  TestServer lenient;
  EXPECT_EQ(lenient.post(GetParam().path, smallest()).status, 200);
  TestServer strict([](ServerOptions& options, FakeEngine&) { options.service.strict_model = true; });
  EXPECT_EQ(strict.post(GetParam().path, smallest()).status, 404);
}

// An instruction further down stays there, so what came before it is found again.
TEST_P(EveryDialect, LaterInstructionsStayInTheirPlace) {
  TestServer server;
  const Json turn = Json::array({message("system", "rules"), message("user", "one")});
  EXPECT_EQ(server.post(GetParam().path, body(turn)).status, 200);
  const std::string before = last_prompt(server.engine);
  Json next = turn;
  next.push_back(message("assistant", "two"));
  next.push_back(message("system", "later"));
  next.push_back(message("user", "three"));
  EXPECT_EQ(server.post(GetParam().path, body(next)).status, 200);
  EXPECT_EQ(last_prompt(server.engine),
            before + "two<|end|>\n<|system|>later<|end|>\n<|user|>three<|end|>\n<|assistant|>");
}

// Web pages reach no dialect.
TEST_P(EveryDialect, WebPagesAreRefused) {
  TestServer server;
  const std::string body = dump_json(smallest());
  const Answer foreign =
      ask(server.port(), "POST", GetParam().path, body, "Origin: https://evil.example\r\n");
  EXPECT_EQ(foreign.status, 403);
  EXPECT_FALSE(foreign.headers.contains("access-control-allow-origin"));
  RawClient rebound(server.port());
  rebound.send(fmt::format("POST {} HTTP/1.1\r\nHost: evil.example\r\nContent-Length: {}\r\n\r\n{}",
                           GetParam().path, body.size(), body));
  EXPECT_EQ(rebound.receive().status, 403);
  const Answer preflight = ask(server.port(), "OPTIONS", GetParam().path, "",
                               "Origin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n");
  EXPECT_GE(preflight.status, 400);
  EXPECT_FALSE(preflight.headers.contains("access-control-allow-origin"));
  EXPECT_TRUE(server.engine.requests().empty());
}

TEST_P(EveryDialect, RepliesAreNotMixedUp) {
  TestServer server([](ServerOptions& options, FakeEngine&) { options.http.threads = 4; });
  server.engine.change([](FakeScript& script) {
    script.reply = [](const engine::Request& request) {  // what the user said
      return std::vector<TokenId>(request.prompt.begin() + 1, request.prompt.end() - 3);
    };
  });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    const Json said = Json::array({message("user", fmt::format("<<{}>>", i))});
    clients.back()->request("POST", GetParam().path, dump_json(body(said, false)));
  }
  for (size_t i = 0; i < clients.size(); ++i)
    EXPECT_NE(clients[i]->receive().body.find(fmt::format("<<{}>>", i)), std::string::npos);
}

}  // namespace
}  // namespace tempo9::server
