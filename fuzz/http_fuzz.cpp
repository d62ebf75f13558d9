// What a connection can send before anybody looks at a body: a server of its own on loopback gets the bytes
// and the end of the connection behind them. It must answer in HTTP or not at all, close, and go on serving
// others.
#include <spdlog/spdlog.h>

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "server/http/http_server.h"
#include "server/testing/raw_client.h"

namespace {

using namespace tempo9::server;

constexpr size_t kMostBodyBytes = 4096;
constexpr int kBetweenChecks = 64;

class CheckingApplication final : public HttpApplication {
 public:
  void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) override {
    CHECK(!request.method.empty() && request.path.starts_with('/'));
    CHECK(request.body.size() <= kMostBodyBytes);
    for (const auto& [name, value] : request.headers) {
      for (const char c : name) CHECK(std::isupper(static_cast<unsigned char>(c)) == 0);
      CHECK(value.find_first_of("\r\n") == value.npos);
    }
    if (!request.path.starts_with("/stream")) return writer->send({200, {}, request.path});
    writer->begin_stream({200, {}, {}});
    writer->write(request.path);
    writer->end();
  }
  Response refuse(const Refusal& refusal, std::string_view) override {
    CHECK(refusal.status >= 400 && !refusal.message.empty());
    return {refusal.status, {}, refusal.message};
  }
};

// One for the whole run: what one connection does must not harm the next.
int port() {
  static CheckingApplication application;
  static const auto server = [] {
    spdlog::set_level(spdlog::level::off);
    HttpOptions options;
    options.port = 0;
    options.threads = 2;
    options.max_body_bytes = kMostBodyBytes;
    auto started = start_http_server(options, application);
    CHECK(started.has_value());
    return *std::move(started);
  }();
  return server->port();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  testing::RawClient client(port());
  client.send({reinterpret_cast<const char*>(data), size});
  client.close_writing();
  CHECK(client.closed_by_server());
  CHECK(client.pending().empty() || client.pending().starts_with("HTTP/1."));
  static int count = 0;
  if (count++ % kBetweenChecks == 0) {
    const testing::Answer answer = testing::ask(port(), "GET", "/others");
    CHECK(answer.status == 200 && answer.body == "/others");
  }
  return 0;
}
