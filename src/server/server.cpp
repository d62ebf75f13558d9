#include "server/server.h"

#include <spdlog/spdlog.h>

#include <thread>
#include <utility>

#include "server/routes.h"

namespace tempo9::server {
namespace {

using Clock = std::chrono::steady_clock;

// How often a stopping server looks whether its connections have gone.
constexpr std::chrono::milliseconds kLook{10};
// For the last bytes of replies that the end of the grace time cut short.
constexpr std::chrono::seconds kFarewell{1};

}  // namespace

Server::Server(engine::Engine& engine, ServerOptions options)
    : engine_(engine),
      options_(std::move(options)),
      service_(engine, options_.service),
      application_(std::make_unique<Application>(service_)) {}

Result<std::unique_ptr<Server>> Server::start(engine::Engine& engine, ServerOptions options) {
  std::unique_ptr<Server> server(new Server(engine, std::move(options)));
  TRY_ASSIGN(server->http_, start_http_server(server->options_.http, *server->application_));
  if (server->options_.handle_signals)
    server->http_->on_stop_signal(
        [raw = server.get()] { raw->stop(); });  // http_ ends before the server does
  return server;
}

Server::~Server() {
  if (http_ == nullptr) return;
  stop();
  stop();
  wait();
}

std::string Server::url() const {
  const std::string& host = options_.http.host;
  const bool is_v6 = host.find(':') != host.npos;
  return fmt::format("http://{}:{}", is_v6 ? "[" + host + "]" : host, port());
}

void Server::stop() {
  const std::lock_guard lock(mutex_);
  ++stops_;
  changed_.notify_all();
}

bool Server::wait_until_quiet(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  while (http_->connections() > 0 && Clock::now() < deadline)
    if (changed_.wait_for(lock, kLook, [&] { return stops_ > 1; })) break;
  return http_->connections() == 0;
}

void Server::wait() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stops_ > 0; });
    if (std::exchange(ended_, true)) return;
  }
  spdlog::info("stopping: running replies have {} ms to finish", options_.shutdown_grace.count());
  service_.drain();
  http_->drain();
  const bool quiet = wait_until_quiet(Clock::now() + options_.shutdown_grace);
  engine_.shut_down(Clock::now());
  if (!quiet) {
    const Clock::time_point deadline = Clock::now() + kFarewell;
    while (http_->connections() > 0 && Clock::now() < deadline) std::this_thread::sleep_for(kLook);
  }
  http_.reset();
  spdlog::info("stopped");
}

Result<int> run_server(engine::Engine& engine, ServerOptions options,
                       const std::function<void(const Server&)>& on_ready) {
  TRY_ASSIGN(const std::unique_ptr<Server> server, Server::start(engine, std::move(options)));
  on_ready(*server);
  server->wait();
  return 0;
}

}  // namespace tempo9::server
