// HTTP/1.1 over TCP: accepts connections, reads whole requests under limits of size and time, hands them to
// an application and writes its answers. One request at a time per connection; pipelined requests wait their
// turn. Threads: `threads` of its own; the application is called on them, and must be safe for that.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

class HttpApplication {
 public:
  virtual ~HttpApplication() = default;
  // In a turn of the request's session. May return before the answer is complete; keeps `writer` until then.
  virtual void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) = 0;
  // The body that says why a request was turned away. `path` is empty if it could not be read.
  virtual Response refuse(const Refusal& refusal, std::string_view path) = 0;
};

struct HttpOptions {
  std::string host = "127.0.0.1";  // an address, or "localhost". Other than loopback: only with API keys
  int port = 11435;                // 0: any free one
  int threads = 0;                 // 0: four, or one per core if there are fewer
  std::vector<std::string> allowed_hosts;  // names the server answers to besides loopback and its address
  std::vector<std::string> api_keys;       // if there are any, every request but /health needs one
  int max_connections = limits::kMaxConnections;
  size_t max_body_bytes = limits::kMaxBodyBytes;
  std::chrono::milliseconds header_timeout{10'000};  // from a request's first byte to its head's end
  std::chrono::milliseconds body_timeout{120'000};   // from there to the body's end
  std::chrono::milliseconds idle_timeout{75'000};    // without a request, on a kept-alive connection
  std::chrono::milliseconds write_timeout{60'000};   // a client that reads nothing
  std::chrono::milliseconds heartbeat{10'000};       // silence on a stream before it is filled
};

class HttpServer {
 public:
  virtual ~HttpServer() = default;  // closes every connection and joins the threads
  virtual int port() const = 0;
  // Takes no further connection, closes idle ones; the others close once their answer is complete.
  virtual void drain() = 0;
  virtual int connections() const = 0;
  // Closes every connection now; unfinished answers hear of it as of a client that left.
  virtual void close_connections() = 0;
  // Calls `callback` on one of the server's threads whenever the process is asked to stop (SIGTERM, SIGINT).
  virtual void on_stop_signal(std::function<void()> callback) = 0;
};

// kInvalidArgument: the host is not an address, or needs an API key; kIo: the address cannot be bound.
// `application` must outlive the server.
Result<std::unique_ptr<HttpServer>> start_http_server(HttpOptions options, HttpApplication& application);

}  // namespace tempo9::server
