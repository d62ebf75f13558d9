// Clients that leave, and the server's own end.
#include <gtest/gtest.h>

#include <csignal>
#include <future>

#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

void ask_for_chat(RawClient& client, bool stream, int choices = 1) {
  client.request("POST", "/v1/chat/completions", dump_json(chat_body({{"stream", stream}, {"n", choices}})));
}

class Leaving : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Whole, Leaving, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Streamed, Leaving, ::testing::Values(true));

TEST_P(Leaving, InTheQueueCancels) {
  TestServer server;
  server.engine.change([](FakeScript& script) {
    script.hold = true;
    script.max_running = 1;
  });
  RawClient running(server.port()), queued(server.port());
  ask_for_chat(running, GetParam());
  ASSERT_TRUE(server.engine.wait_for_submits(1));
  ask_for_chat(queued, GetParam());
  ASSERT_TRUE(server.engine.wait_for_submits(2));
  queued.close();
  EXPECT_TRUE(server.engine.wait_for_cancels(1));
  EXPECT_TRUE(server.engine.wait_until_queue_is_empty());
  server.engine.change([](FakeScript& script) { script.hold = false; });
  EXPECT_TRUE(running.receive().complete);
  EXPECT_EQ(server.engine.cancels(), 1);
}

TEST_P(Leaving, InThePrefillCancels) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.prefill = seconds(60); });
  RawClient client(server.port());
  ask_for_chat(client, GetParam());
  ASSERT_TRUE(server.engine.wait_for_submits(1));
  const auto left = Clock::now();
  client.close();
  EXPECT_TRUE(server.engine.wait_for_cancels(1));
  EXPECT_LT(Clock::now() - left, seconds(1));
  EXPECT_EQ(server.engine.tokens_given(), 0);
}

TEST_P(Leaving, InTheDecodeCancelsEveryChoice) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.step = milliseconds(20); });
  server.engine.say(std::string(100000, 'x'));
  RawClient client(server.port());
  ask_for_chat(client, GetParam(), 3);
  ASSERT_TRUE(server.engine.wait_for_submits(3));
  while (server.engine.tokens_given() < 9) std::this_thread::sleep_for(milliseconds(5));
  client.close();
  EXPECT_TRUE(server.engine.wait_for_cancels(3));
  EXPECT_LT(server.engine.tokens_given(), 1000);
}

TEST_P(Leaving, ByClosingTheWritingSideCancels) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.hold = true; });
  RawClient client(server.port());
  ask_for_chat(client, GetParam());
  ASSERT_TRUE(server.engine.wait_for_submits(1));
  client.close_writing();
  EXPECT_TRUE(server.engine.wait_for_cancels(1));
}

TEST(Lifecycle, AReaderThatStopsDoesNotHoldUpTheEngine) {
  TestServer server;
  server.engine.say(std::string(20000, 'x'));  // about 4 MB of events, more than the sockets take
  RawClient slow(server.port());
  ask_for_chat(slow, true);
  ASSERT_TRUE(server.engine.wait_for_submits(1));
  for (int i = 0; i < 1000 && server.engine.tokens_given() < 20000; ++i)
    std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(server.engine.tokens_given(), 20000);
  server.engine.say("quick");
  EXPECT_EQ(server.chat(chat_body()).status, 200);
  const auto events = slow.receive(seconds(20)).events();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back(), "[DONE]");
}

TEST(Lifecycle, RunningRepliesFinishWhenTheServerStops) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.step = milliseconds(20); });
  RawClient streamed(server.port()), whole(server.port()), idle(server.port());
  ask_for_chat(streamed, true);
  ask_for_chat(whole, false);
  ASSERT_TRUE(server.engine.wait_for_submits(2));
  const auto begin = Clock::now();
  server.server->stop();
  server.server->wait();
  EXPECT_LT(Clock::now() - begin, seconds(5));
  const Answer stream_answer = streamed.receive(), whole_answer = whole.receive();
  EXPECT_EQ(stream_answer.events().back(), "[DONE]");
  EXPECT_TRUE(whole_answer.complete);
  EXPECT_EQ(whole_answer.status, 200);
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_EQ(server.engine.cancels(), 0);
}

TEST(Lifecycle, AStoppingServerTakesNothingNew) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.hold = true; });
  RawClient running(server.port()), late(server.port()), idle(server.port());
  ask_for_chat(running, true);
  late.send("POST /v1/chat/completions HTTP/1.1\r\n");  // has begun, so it is let finish
  ASSERT_TRUE(server.engine.wait_for_submits(1));
  server.server->stop();
  auto waiting = std::async(std::launch::async, [&] { server.server->wait(); });
  EXPECT_TRUE(idle.closed_by_server());  // so the stop has reached the connections
  const std::string body = dump_json(chat_body());
  late.send(fmt::format("Host: localhost\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
  const Answer answer = late.receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_TRUE(answer.headers.contains("retry-after"));
  EXPECT_TRUE(late.closed_by_server());
  server.engine.change([](FakeScript& script) { script.hold = false; });
  EXPECT_EQ(running.receive().events().back(), "[DONE]");
  waiting.get();
}

TEST(Lifecycle, TheGraceTimeEnds) {
  TestServer server([](ServerOptions& options, FakeEngine&) { options.shutdown_grace = milliseconds(100); });
  server.engine.change([](FakeScript& script) { script.hold = true; });
  RawClient streamed(server.port()), whole(server.port());
  ask_for_chat(streamed, true);
  ask_for_chat(whole, false);
  ASSERT_TRUE(server.engine.wait_for_submits(2));
  server.server->stop();
  server.server->wait();
  EXPECT_EQ(server.engine.cancels(), 2);
  const Json last = *parse_json(streamed.receive().events().back());
  EXPECT_NE(last["error"]["message"].get<std::string>().find("shutting down"), std::string::npos);
  EXPECT_EQ(whole.receive().status, 503);
}

TEST(Lifecycle, ASecondStopEndsTheGraceTime) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.hold = true; });
  RawClient client(server.port());
  ask_for_chat(client, true);
  ASSERT_TRUE(server.engine.wait_for_submits(1));
  const auto begin = Clock::now();
  server.server->stop();
  server.server->stop();
  server.server->wait();
  EXPECT_LT(Clock::now() - begin, seconds(5));
  EXPECT_EQ(server.engine.cancels(), 1);
}

TEST(Lifecycle, ASignalStopsAServerThatRuns) {
  FakeEngine engine;
  ServerOptions options;
  options.http.port = 0;
  std::promise<int> ready;
  auto running = std::async(std::launch::async, [&] {
    return run_server(engine, options, [&](const Server& server) {
      EXPECT_EQ(server.url(), fmt::format("http://127.0.0.1:{}", server.port()));
      ready.set_value(server.port());
    });
  });
  const int port = ready.get_future().get();
  EXPECT_EQ(ask(port, "GET", "/health").status, 200);
  std::raise(SIGTERM);
  const Result<int> status = running.get();
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 0);
}

TEST(Lifecycle, AServerThatCannotStartSaysWhy) {
  TestServer first;
  FakeEngine engine;
  ServerOptions options;
  options.http.port = first.port();
  const auto second = run_server(engine, options, [](const Server&) { FAIL(); });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
}

TEST(Lifecycle, AServerMayBeDroppedAtAnyTime) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.hold = true; });
  RawClient client(server.port());
  ask_for_chat(client, true);
  ASSERT_TRUE(server.engine.wait_for_submits(1));
  server.server.reset();
  EXPECT_EQ(server.engine.cancels(), 1);
  EXPECT_TRUE(client.closed_by_server());
}

}  // namespace
}  // namespace tempo9::server
