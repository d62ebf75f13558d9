#include "server/http/exchange.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/limits.h"

namespace tempo9::server {
namespace {

struct Fixture {
  explicit Fixture(const std::function<void(Exchange::Options&)>& adjust = {}) {
    Exchange::Options options;
    options.id = "req_1";
    options.post = [](const Exchange::Turn& turn) { turn(); };
    options.wake = [this] { ++wakes; };
    if (adjust) adjust(options);
    exchange = std::make_unique<Exchange>(std::move(options));
  }
  std::unique_ptr<Exchange> exchange;
  int wakes = 0;
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

TEST(Exchange, SendsAWholeAnswer) {
  Fixture fixture;
  fixture.exchange->send({404, {{"Content-Type", "text/plain"}}, "nothing"});
  EXPECT_TRUE(fixture.exchange->done());
  EXPECT_EQ(fixture.wakes, 1);
  const std::string bytes = fixture.exchange->take_output();
  EXPECT_TRUE(bytes.starts_with("HTTP/1.1 404 Not Found\r\n"));
  for (const char* line :
       {"Content-Type: text/plain\r\n", "Content-Length: 7\r\n", "x-request-id: req_1\r\n"})
    EXPECT_TRUE(contains(bytes, line)) << line;
  EXPECT_TRUE(contains(bytes, " GMT\r\n"));
  EXPECT_FALSE(contains(bytes, "Connection:"));
  EXPECT_TRUE(bytes.ends_with("\r\n\r\nnothing"));
}

TEST(Exchange, AnswersHeadWithTheHeadAlone) {
  Fixture fixture([](Exchange::Options& options) { options.head_only = true; });
  fixture.exchange->send({200, {}, "seven b"});
  const std::string bytes = fixture.exchange->take_output();
  EXPECT_TRUE(contains(bytes, "Content-Length: 7\r\n"));
  EXPECT_TRUE(bytes.ends_with("\r\n\r\n"));
}

TEST(Exchange, StreamsInChunks) {
  Fixture fixture;
  fixture.exchange->begin_stream({200, {}, {}});
  EXPECT_TRUE(contains(fixture.exchange->take_output(), "Transfer-Encoding: chunked\r\n"));
  fixture.exchange->write("0123456789abcdef!");
  fixture.exchange->write("");
  EXPECT_EQ(fixture.exchange->take_output(), "11\r\n0123456789abcdef!\r\n");
  fixture.exchange->end();
  EXPECT_EQ(fixture.exchange->take_output(), "0\r\n\r\n");
  EXPECT_TRUE(fixture.exchange->done());
}

TEST(Exchange, AnOldClientGetsAStreamThatEndsWithTheConnection) {
  Fixture fixture([](Exchange::Options& options) { options.http_1_0 = true; });
  fixture.exchange->begin_stream({200, {}, {}});
  fixture.exchange->write("plain");
  fixture.exchange->end();
  const std::string bytes = fixture.exchange->take_output();
  EXPECT_TRUE(bytes.starts_with("HTTP/1.0 200 OK\r\n"));
  EXPECT_TRUE(contains(bytes, "Connection: close\r\n"));
  EXPECT_TRUE(bytes.ends_with("\r\n\r\nplain"));
  EXPECT_FALSE(fixture.exchange->keep_alive());
}

TEST(Exchange, TellsOnceThatTheClientIsGone) {
  Fixture fixture;
  int told = 0;
  fixture.exchange->on_closed([&] { ++told; });
  fixture.exchange->begin_stream({200, {}, {}});
  fixture.exchange->close();
  fixture.exchange->close();
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(fixture.exchange->closed());
  fixture.exchange->write("late");
  fixture.exchange->end();
  EXPECT_FALSE(fixture.exchange->has_output());
  EXPECT_FALSE(fixture.exchange->done());
  fixture.exchange->on_closed([&] { ++told; });
  EXPECT_EQ(told, 2);
}

TEST(Exchange, ACompleteAnswerIsNotCutOff) {
  Fixture fixture;
  bool told = false;
  fixture.exchange->on_closed([&] { told = true; });
  fixture.exchange->send({200, {}, "all"});
  fixture.exchange->close();
  EXPECT_FALSE(told);
  EXPECT_TRUE(fixture.exchange->has_output());
}

TEST(Exchange, CutsAClientThatDoesNotRead) {
  Fixture fixture;
  bool told = false;
  fixture.exchange->on_closed([&] { told = true; });
  fixture.exchange->begin_stream({200, {}, {}});
  const std::string event(1 << 20, 'x');
  for (size_t sent = 0; sent <= limits::kMaxUnsentBytes; sent += event.size()) fixture.exchange->write(event);
  EXPECT_TRUE(told);
  EXPECT_TRUE(fixture.exchange->closed());
}

TEST(Exchange, BeatsWhenAStreamIsSilent) {
  Fixture fixture(
      [](Exchange::Options& options) { options.heartbeat_interval = std::chrono::milliseconds(5); });
  EXPECT_FALSE(fixture.exchange->heartbeat_due());
  fixture.exchange->begin_stream({200, {}, [] { return std::string("beat"); }});
  fixture.exchange->take_output();
  const auto due = fixture.exchange->heartbeat_due();
  ASSERT_TRUE(due);
  std::this_thread::sleep_until(*due);
  fixture.exchange->beat();
  EXPECT_EQ(fixture.exchange->take_output(), "4\r\nbeat\r\n");
  EXPECT_GT(*fixture.exchange->heartbeat_due(), *due);
}

TEST(Exchange, ANoteIsKeptOnce) {
  Fixture fixture;
  fixture.exchange->note("tokens", "1");
  fixture.exchange->note("tokens", "2");
  ASSERT_EQ(fixture.exchange->notes().size(), 1u);
  EXPECT_EQ(fixture.exchange->notes()[0].second, "2");
}

}  // namespace
}  // namespace tempo9::server
