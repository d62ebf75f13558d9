#include "server/http/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/check.h"
#include "server/testing/raw_client.h"

namespace tempo9::server {
namespace {

using std::chrono::milliseconds;
using testing::Answer;
using testing::ask;
using testing::RawClient;

// Echoes requests; under /wait it keeps the answer open, under /stream it streams without end.
class EchoApplication final : public HttpApplication {
 public:
  void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) override {
    ++requests;
    if (request.path == "/throw") throw std::bad_alloc();
    writer->on_closed([this] { ++closed; });
    if (request.path == "/wait") return keep(std::move(writer));
    if (request.path == "/stream") {
      writer->begin_stream({200, {}, [] { return std::string("beat;"); }});
      return keep(std::move(writer));
    }
    if (request.path == "/flood") {
      writer->begin_stream({200, {}, {}});
      for (int i = 0; i < 40 && !writer->closed(); ++i) writer->write(std::string(1 << 20, 'x'));
      return writer->end();
    }
    writer->send({200, {}, request.method + " " + request.path + "?" + request.query + " " + request.body});
  }
  Response refuse(const Refusal& refusal, std::string_view) override {
    return {refusal.status, {}, refusal.message};
  }

  void keep(std::shared_ptr<ResponseWriter> writer) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(writer));
  }
  bool wait_for(const std::atomic<int>& counter, int value) const {
    for (int i = 0; i < 500 && counter < value; ++i) std::this_thread::sleep_for(milliseconds(10));
    return counter >= value;
  }

  std::atomic<int> requests = 0, closed = 0;
  std::mutex mutex;
  std::vector<std::shared_ptr<ResponseWriter>> kept;  // under mutex
};

class HttpServerTest : public ::testing::Test {
 protected:
  void start(const std::function<void(HttpOptions&)>& adjust = {}) {
    HttpOptions options;
    options.port = 0;
    options.threads = 2;
    if (adjust) adjust(options);
    auto started = start_http_server(options, application);
    ASSERT_TRUE(started) << started.error().message;
    server = *std::move(started);
  }
  void TearDown() override { application.kept.clear(); }

  EchoApplication application;
  std::unique_ptr<HttpServer> server;
};

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  start();
  RawClient client(server->port());
  client.request("GET", "/a?b=c");
  EXPECT_EQ(client.receive().body, "GET /a?b=c ");
  client.request("POST", "/d", "body");
  const Answer answer = client.receive();
  EXPECT_EQ(answer.body, "POST /d? body");
  EXPECT_TRUE(answer.headers.at("x-request-id").starts_with("req_"));
  client.request("GET", "/e", "", "Connection: close\r\n");
  EXPECT_EQ(client.receive().headers.at("connection"), "close");
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(HttpServerTest, ReadsRequestsHoweverTheyAreSplit) {
  start();
  RawClient client(server->port());
  const std::string request =
      "POST /split HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\nhello world";
  for (const char byte : request) {
    client.send(std::string_view(&byte, 1));
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(client.receive().body, "POST /split? hello world");
}

TEST_F(HttpServerTest, ReadsChunkedBodies) {
  start();
  RawClient client(server->port());
  client.request("POST", "/chunked", "", "Transfer-Encoding: chunked\r\n");
  client.send("5\r\nhello\r\n6;extension=1\r\n world\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive().body, "POST /chunked? hello world");
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  start();
  RawClient client(server->port());
  std::string requests;
  for (int i = 0; i < 200; ++i)
    requests += fmt::format("\r\nPOST /{} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nxy", i);
  client.send(requests);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(client.receive().body, fmt::format("POST /{}? xy", i));
}

TEST_F(HttpServerTest, HeadGetsNoBody) {
  start();
  RawClient client(server->port());
  client.request("HEAD", "/x");
  const Answer answer = client.receive(std::chrono::seconds(5), true);
  EXPECT_EQ(answer.headers.at("content-length"), "9");
  client.request("GET", "/next");
  EXPECT_EQ(client.receive().body, "GET /next? ");
}

TEST_F(HttpServerTest, SpeaksToOldClients) {
  start();
  RawClient client(server->port());
  client.send("GET /old HTTP/1.0\r\n\r\n");
  const Answer answer = client.receive();
  EXPECT_EQ(answer.body, "GET /old? ");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(HttpServerTest, SaysContinueWhenAsked) {
  start();
  RawClient client(server->port());
  client.request("POST", "/large", "", "Content-Length: 4\r\nExpect: 100-continue\r\n");
  EXPECT_EQ(client.receive().status, 100);
  client.send("data");
  EXPECT_EQ(client.receive().body, "POST /large? data");
  EXPECT_EQ(ask(server->port(), "POST", "/large", "data", "Expect: miracles\r\n").status, 417);
}

TEST_F(HttpServerTest, RefusesWhatIsNotHttp) {
  start();
  for (const char* bytes :
       {"nonsense\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n",
        "\x16\x03\x01\x02\x01\x01\r\n\r\n", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    RawClient client(server->port());
    client.send(bytes);
    EXPECT_EQ(client.receive().status, 400) << bytes;
    EXPECT_TRUE(client.closed_by_server()) << bytes;
  }
  EXPECT_EQ(application.requests, 0);
}

TEST_F(HttpServerTest, RefusesForeignTargetsAndHosts) {
  start();
  EXPECT_EQ(ask(server->port(), "GET", "http://localhost/").status, 400);
  RawClient client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(client.receive().status, 403);
}

TEST_F(HttpServerTest, LimitsTheHead) {
  start();
  const std::string long_header = "X: " + std::string(limits::kMaxHeaderBytes, 'x') + "\r\n";
  EXPECT_EQ(ask(server->port(), "GET", "/", "", long_header).status, 431);
  const std::string fitting = "X: " + std::string(limits::kMaxHeaderBytes - 200, 'x') + "\r\n";
  EXPECT_EQ(ask(server->port(), "GET", "/", "", fitting).status, 200);
  RawClient endless(server->port());
  endless.send("GET /" + std::string(4 * limits::kMaxHeaderBytes, 'x'));
  EXPECT_EQ(endless.receive().status, 431);
}

TEST_F(HttpServerTest, LimitsTheBody) {
  start([](HttpOptions& options) { options.max_body_bytes = 1000; });
  EXPECT_EQ(ask(server->port(), "POST", "/", std::string(1000, 'x')).status, 200);
  EXPECT_EQ(ask(server->port(), "POST", "/", std::string(1001, 'x')).status, 413);
  RawClient announced(server->port());  // refused by its announcement, without waiting for the bytes
  announced.request("POST", "/", "", "Content-Length: 99999999999\r\n");
  EXPECT_EQ(announced.receive().status, 413);
  RawClient chunked(server->port());
  chunked.request("POST", "/", "", "Transfer-Encoding: chunked\r\n");
  chunked.send("7d0\r\n" + std::string(2000, 'x') + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.receive().status, 413);
  EXPECT_EQ(application.requests, 1);
}

TEST_F(HttpServerTest, DeliversARefusalToAClientThatIsStillSending) {
  start([](HttpOptions& options) { options.max_body_bytes = 1000; });
  RawClient client(server->port());
  client.request("POST", "/", std::string(8 << 20, 'x'));
  EXPECT_EQ(client.receive().status, 413);
}

TEST_F(HttpServerTest, DoesNotWaitForSlowHeadsAndBodies) {
  start([](HttpOptions& options) {
    options.header_timeout = milliseconds(100);
    options.body_timeout = milliseconds(100);
  });
  RawClient slow_head(server->port());
  slow_head.send("GET / HTTP/1.1\r\nHost: ");
  RawClient line_only(server->port());
  line_only.send("GET / HTTP/1.1\r\n");
  RawClient dripping(server->port());
  RawClient slow_body(server->port());
  slow_body.request("POST", "/", "", "Content-Length: 10\r\n");
  slow_body.send("half");
  for (int i = 0; i < 20; ++i) {  // a byte now and then does not buy time
    dripping.send("G");
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(slow_head.receive().status, 408);
  EXPECT_EQ(line_only.receive().status, 408);
  EXPECT_EQ(slow_body.receive().status, 408);
  EXPECT_EQ(dripping.receive().status, 408);
  EXPECT_EQ(application.requests, 0);
}

TEST_F(HttpServerTest, ABodyMayTakeLongerThanAHead) {
  start([](HttpOptions& options) { options.header_timeout = milliseconds(50); });
  RawClient client(server->port());
  client.request("POST", "/x", "", "Content-Length: 8\r\n");  // the head comes at once
  client.send("half");
  std::this_thread::sleep_for(milliseconds(150));
  client.send("more");
  EXPECT_EQ(client.receive().status, 200);
}

TEST_F(HttpServerTest, ClosesIdleConnections) {
  start([](HttpOptions& options) { options.idle_timeout = milliseconds(50); });
  RawClient client(server->port());
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_EQ(client.pending(), "");
}

TEST_F(HttpServerTest, ManyIdleConnectionsDoNotHurt) {
  start();
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 64; ++i) idle.push_back(std::make_unique<RawClient>(server->port()));
  EXPECT_EQ(ask(server->port(), "GET", "/x").status, 200);
  for (const auto& client : idle) {
    client->request("GET", "/later");
    EXPECT_EQ(client->receive().status, 200);
  }
}

TEST_F(HttpServerTest, TurnsAwayConnectionsBeyondTheLimit) {
  start([](HttpOptions& options) { options.max_connections = 3; });
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 3; ++i) {
    idle.push_back(std::make_unique<RawClient>(server->port()));
    idle.back()->request("GET", "/x");
    EXPECT_EQ(idle.back()->receive().status, 200);
  }
  RawClient extra(server->port());
  EXPECT_EQ(extra.receive().status, 503);
  idle.clear();
  for (int i = 0; i < 500 && server->connections() > 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(ask(server->port(), "GET", "/x").status, 200);
}

TEST_F(HttpServerTest, NoticesAClientThatLeaves) {
  start();
  for (const char* path : {"/wait", "/stream"}) {
    const int before = application.closed;
    RawClient client(server->port());
    client.request("GET", path);
    ASSERT_TRUE(application.wait_for(application.requests, before + 1));
    client.close();
    EXPECT_TRUE(application.wait_for(application.closed, before + 1)) << path;
  }
}

TEST_F(HttpServerTest, NoticesAClientThatClosesItsSide) {
  start();
  RawClient client(server->port());
  client.request("GET", "/wait");
  ASSERT_TRUE(application.wait_for(application.requests, 1));
  client.close_writing();
  EXPECT_TRUE(application.wait_for(application.closed, 1));
}

TEST_F(HttpServerTest, NoticesAClientThatLeavesPipelinedRequestsBehind) {
  start();
  RawClient client(server->port());
  client.request("GET", "/wait");
  client.request("GET", "/never");
  ASSERT_TRUE(application.wait_for(application.requests, 1));
  client.close();
  EXPECT_TRUE(application.wait_for(application.closed, 1));
  EXPECT_EQ(application.requests, 1);
}

TEST_F(HttpServerTest, AClientThatClosesItsSideGetsAQuickAnswer) {
  start();
  RawClient client(server->port());
  client.request("GET", "/quick");
  client.close_writing();
  EXPECT_EQ(client.receive().body, "GET /quick? ");
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(HttpServerTest, FillsSilenceOnStreams) {
  start([](HttpOptions& options) { options.heartbeat = milliseconds(20); });
  RawClient client(server->port());
  client.request("GET", "/stream");
  EXPECT_TRUE(client.receive_text("beat;\r\n5\r\nbeat;"));
}

TEST_F(HttpServerTest, CutsAStreamThatIsNotRead) {
  start();
  RawClient client(server->port());
  client.request("GET", "/flood");
  EXPECT_TRUE(application.wait_for(application.closed, 1));
}

TEST_F(HttpServerTest, GivesUpOnAClientThatStopsReading) {
  start([](HttpOptions& options) { options.write_timeout = milliseconds(100); });
  RawClient client(server->port());
  client.request("GET", "/stream");
  ASSERT_TRUE(application.wait_for(application.requests, 1));
  const std::lock_guard lock(application.mutex);
  const auto writer = application.kept.front();
  writer->post([writer] { writer->write(std::string(12 << 20, 'x')); });
  EXPECT_TRUE(application.wait_for(application.closed, 1));
}

TEST_F(HttpServerTest, ARequestCanFailAndTheServerGoesOn) {
  start();
  EXPECT_EQ(ask(server->port(), "GET", "/throw").status, 500);
  EXPECT_EQ(ask(server->port(), "GET", "/x").status, 200);
}

TEST_F(HttpServerTest, DrainsWithoutCuttingAnswers) {
  start();
  RawClient idle(server->port()), waiting(server->port());
  waiting.request("GET", "/wait");
  ASSERT_TRUE(application.wait_for(application.requests, 1));
  server->drain();
  EXPECT_TRUE(idle.closed_by_server());
  const auto writer = application.kept.front();
  writer->post([writer] { writer->send({200, {}, "at last"}); });
  EXPECT_EQ(waiting.receive().body, "at last");
  EXPECT_TRUE(waiting.closed_by_server());
  EXPECT_EQ(application.closed, 0);
}

TEST_F(HttpServerTest, SaysWhyItCannotListen) {
  start();
  HttpOptions options;
  options.port = server->port();
  const auto taken = start_http_server(options, application);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kIo);
  EXPECT_NE(taken.error().message.find(std::to_string(options.port)), std::string::npos);
  options.port = 0;
  for (const char* host : {"not-an-address", "0.0.0.0", "192.0.2.1", ""}) {
    options.host = host;
    const auto refused = start_http_server(options, application);
    ASSERT_FALSE(refused) << host;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument) << host;
  }
  options.host = "localhost";
  options.port = 70000;
  EXPECT_FALSE(start_http_server(options, application));
}

TEST_F(HttpServerTest, ListensElsewhereWithAKey) {
  start([](HttpOptions& options) {
    options.host = "0.0.0.0";
    options.api_keys = {"secret"};
  });
  EXPECT_EQ(ask(server->port(), "GET", "/x").status, 401);
  EXPECT_EQ(ask(server->port(), "GET", "/x", "", "Authorization: Bearer secret\r\n").status, 200);
}

}  // namespace
}  // namespace tempo9::server
