// What clients do all at once, or badly, while two streams run: every request is answered or refused within
// its limits, and the streams go on.
#include <gtest/gtest.h>

#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr int kTokens = 100;
constexpr milliseconds kStep{10};
// Far above a step, far below what a disturbed stream would wait for.
constexpr seconds kLongestGap{2};

class Bursts : public ::testing::Test {
 protected:
  Bursts()
      : server([](ServerOptions& options, FakeEngine&) { options.http.header_timeout = milliseconds(200); }) {
    server.engine.say(std::string(kTokens, 'x'));
    server.engine.change([](FakeScript& script) { script.step = kStep; });
    for (const char* path : {"/v1/messages", "/v1/chat/completions"}) {
      streams.push_back(std::make_unique<RawClient>(server.port()));
      streams.back()->request("POST", path,
                              dump_json(chat_body({{"stream", true}, {"max_tokens", kTokens}})));
    }
    EXPECT_TRUE(server.engine.wait_for_submits(2));
  }

  // Both streams come to their end, with all of their text and without a long silence.
  void expect_undisturbed() {
    for (const auto& stream : streams) {
      Clock::time_point last = Clock::now();
      while (stream->pending().find("\r\n0\r\n\r\n") == std::string::npos) {
        const size_t before = stream->pending().size();
        stream->receive_text("never sent", milliseconds(50));
        if (stream->pending().size() > before) last = Clock::now();
        ASSERT_LT(Clock::now() - last, kLongestGap);
      }
      const Answer answer = stream->receive();
      EXPECT_TRUE(answer.complete);
      EXPECT_GE(std::ranges::count(answer.body, 'x'), kTokens);
    }
  }

  TestServer server;
  std::vector<std::unique_ptr<RawClient>> streams;
};

TEST_F(Bursts, OfCountedPrompts) {
  constexpr int kCounts = 24;  // as Claude Code's /context sends them, over a dozen connections
  Json body = chat_body();
  body["messages"][0]["content"] = std::string(3000, 'y');
  const std::string text = dump_json(body);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < kCounts / 2; ++i) clients.push_back(std::make_unique<RawClient>(server.port()));
  for (int i = 0; i < kCounts; ++i)
    clients[static_cast<size_t>(i / 2)]->request("POST", "/v1/messages/count_tokens?beta=true", text);
  for (int i = 0; i < kCounts; ++i)
    EXPECT_EQ(body_of(clients[static_cast<size_t>(i / 2)]->receive()), (Json{{"input_tokens", 3004}}));
  EXPECT_EQ(server.engine.requests().size(), 2u);
  expect_undisturbed();
}

TEST_F(Bursts, OfConnectionsThatSendNothing) {
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 64; ++i) silent.push_back(std::make_unique<RawClient>(server.port()));
  EXPECT_EQ(ask(server.port(), "GET", "/api/version").status, 200);
  expect_undisturbed();
  for (const auto& client : silent) client->request("GET", "/api/tags");
  for (const auto& client : silent) EXPECT_EQ(client->receive().status, 200);
}

TEST_F(Bursts, OfAHundredMegabytes) {
  RawClient announced(server.port()), chunked(server.port());
  announced.send(
      fmt::format("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", 100 << 20));
  chunked.send("POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string megabyte = fmt::format("{:x}\r\n{}\r\n", 1 << 20, std::string(1 << 20, ' '));
  for (int i = 0; i < 100; ++i) chunked.send(megabyte);
  const Answer first = announced.receive(), second = chunked.receive();
  EXPECT_EQ(first.status, 413);
  EXPECT_EQ(error_of(first)["type"], "request_too_large");
  EXPECT_TRUE(second.status == 413 || second.status == 0);  // 0: reset while it was still sending
  expect_undisturbed();
}

TEST_F(Bursts, OfAHeadThatNeverEnds) {
  RawClient endless(server.port()), slow(server.port());
  endless.send("POST /api/chat HTTP/1.1\r\nHost: localhost\r\n");
  for (int i = 0; i < 10'000; ++i) endless.send(fmt::format("x-header-{}: value\r\n", i));
  slow.send("POST /api/chat HTTP/1.1\r\nHost: loc");
  EXPECT_EQ(endless.receive().status, 431);
  EXPECT_EQ(slow.receive().status, 408);
  expect_undisturbed();
}

TEST_F(Bursts, OfPipelinedRequests) {
  RawClient client(server.port());
  const std::string count = dump_json(chat_body());
  for (int i = 0; i < 20; ++i) {
    client.request("GET", "/v1/models");
    client.request("POST", "/v1/messages/count_tokens", count);
    client.request("POST", "/api/show", "{\"model\":\"m\"}");
    client.request("GET", "/nothing");
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(body_of(client.receive())["object"], "list");
    EXPECT_TRUE(body_of(client.receive()).contains("input_tokens"));
    EXPECT_TRUE(body_of(client.receive()).contains("model_info"));
    EXPECT_EQ(client.receive().status, 404);
  }
  expect_undisturbed();
}

}  // namespace
}  // namespace tempo9::server
