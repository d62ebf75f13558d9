#include "server/http/http_server.h"

#include <spdlog/spdlog.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <csignal>
#include <random>
#include <thread>

#include "server/http/session.h"

namespace tempo9::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptPause{100};  // after running out of descriptors

int thread_count(int wanted) {
  constexpr int kDefault = 4;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return wanted > 0 ? wanted : std::clamp(cores, 1, kDefault);
}

Result<asio::ip::address> parse_host(const HttpOptions& options) {
  error_code error;
  const std::string text = options.host == "localhost" ? "127.0.0.1" : options.host;
  const asio::ip::address address = asio::ip::make_address(text, error);
  if (error)
    return fail(ErrorCode::kInvalidArgument, "host '{}' is neither an IP address nor 'localhost'",
                options.host);
  if (!address.is_loopback() && options.api_keys.empty())
    return fail(ErrorCode::kInvalidArgument,
                "host '{}' can be reached from other machines: give the server API keys first", options.host);
  return address;
}

GateOptions gate_options(const HttpOptions& options, const asio::ip::address& address) {
  GateOptions gate{options.allowed_hosts, !address.is_loopback(), options.api_keys};
  const std::string text = address.to_string();
  gate.hosts.push_back(address.is_v6() ? "[" + text + "]" : text);
  return gate;
}

class AsioServer final : public HttpServer {
 public:
  AsioServer(HttpOptions options, HttpApplication& application, const asio::ip::address& address)
      : context_{std::make_shared<asio::io_context>(),
                 options,
                 application,
                 Gate(gate_options(options, address)),
                 {},
                 {},
                 {},
                 std::random_device{}()},
        io_(*context_.io),
        work_(io_.get_executor()),
        acceptor_(asio::make_strand(io_)),
        pause_(acceptor_.get_executor()),
        signals_(acceptor_.get_executor()) {}

  // The threads run until nothing is left to do, so that no handler outlives the sessions' context.
  ~AsioServer() override {
    asio::post(acceptor_.get_executor(), [this] {
      error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      signals_.cancel(ignored);
      close_connections();
    });
    work_.reset();
    for (std::thread& thread : threads_) thread.join();
  }

  Status bind(const tcp::endpoint& endpoint) {
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      return fail(ErrorCode::kIo, "cannot listen on {} port {}: {}", endpoint.address().to_string(),
                  endpoint.port(), error.message());
    port_ = acceptor_.local_endpoint(error).port();
    return {};
  }

  void run() {
    asio::post(acceptor_.get_executor(), [this] { accept_next(); });
    for (int i = 0; i < thread_count(context_.options.threads); ++i)
      threads_.emplace_back([this] { run_thread(); });
  }

  int port() const override { return port_; }
  int connections() const override { return context_.sessions.size(); }

  void drain() override {
    asio::post(acceptor_.get_executor(), [this] {
      error_code ignored;
      acceptor_.close(ignored);
      for (const auto& session : context_.sessions.all()) session->drain();
    });
  }

  void close_connections() override {
    for (const auto& session : context_.sessions.all()) session->close();
  }

  void on_stop_signal(std::function<void()> callback) override {
    // At once, not when the executor comes to it: a stop right after the start is then kept for the wait.
    error_code error;
    for (const int signal : {SIGTERM, SIGINT})
      if (signals_.add(signal, error))
        spdlog::error("cannot wait for signal {}: {}", signal, error.message());
    asio::post(acceptor_.get_executor(),
               [this, callback = std::move(callback)] { wait_for_signal(callback); });
  }

 private:
  void run_thread() {
    while (true) {
      try {
        io_.run();
        return;
      } catch (const std::exception& failure) {  // out of memory in one turn: the others go on
        spdlog::error("a turn ended with an exception: {}", failure.what());
      }
    }
  }

  void wait_for_signal(const std::function<void()>& callback) {
    signals_.async_wait([this, callback](error_code error, int) {
      if (error) return;
      callback();
      wait_for_signal(callback);
    });
  }

  void accept_next() {
    acceptor_.async_accept(asio::make_strand(io_), [this](error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) {
        spdlog::warn("cannot accept a connection: {}", error.message());
        pause_.expires_after(kAcceptPause);
        pause_.async_wait([this](error_code stopped) {
          if (!stopped) accept_next();
        });
        return;
      }
      if (context_.sessions.size() >= context_.options.max_connections)
        turn_away(std::move(socket));
      else
        std::make_shared<Session>(std::move(socket), context_)->start();
      accept_next();
    });
  }

  // Best effort, without waiting for anything: a crowd must not cost what the limit is there to save.
  void turn_away(tcp::socket socket) {
    const Response response = context_.application.refuse({503, "too many connections"}, "");
    std::string text = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n";
    for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
    text += "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n" + response.body;
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(text), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
  }

  SessionContext context_;
  asio::io_context& io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  asio::signal_set signals_;
  std::vector<std::thread> threads_;
  int port_ = 0;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> start_http_server(HttpOptions options, HttpApplication& application) {
  TRY_ASSIGN(const asio::ip::address address, parse_host(options));
  if (options.port < 0 || options.port > 65535)
    return fail(ErrorCode::kInvalidArgument, "port {} is not between 0 and 65535", options.port);
  const tcp::endpoint endpoint(address, static_cast<uint16_t>(options.port));
  auto server = std::make_unique<AsioServer>(std::move(options), application, address);
  TRY(server->bind(endpoint));
  server->run();
  return server;
}

}  // namespace tempo9::server
