// The server as apps see it: an engine made reachable over HTTP.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "server/api/service.h"
#include "server/http/http_server.h"

namespace tempo9::server {

struct ServerOptions {
  HttpOptions http;                                  // address, threads, allowed hosts, API keys, limits
  ServiceOptions service;                            // model id, strict_model
  std::chrono::milliseconds shutdown_grace{30'000};  // for running replies once a stop was asked for
  bool handle_signals = true;                        // SIGTERM and SIGINT stop the server
};

class Server {
 public:
  // Binds and begins to answer. `engine` must outlive the server, and is shut down with it.
  static Result<std::unique_ptr<Server>> start(engine::Engine& engine, ServerOptions options);
  ~Server();  // as if stopped twice

  int port() const { return http_->port(); }
  std::string url() const;  // "http://127.0.0.1:11435"

  // From any thread. The first call lets running replies finish within the grace time; a second one ends
  // them.
  void stop();
  // Returns once a stop was asked for and everything has ended.
  void wait();

 private:
  Server(engine::Engine& engine, ServerOptions options);
  bool wait_until_quiet(std::chrono::steady_clock::time_point deadline);

  engine::Engine& engine_;
  const ServerOptions options_;
  Service service_;
  std::unique_ptr<HttpApplication> application_;
  std::unique_ptr<HttpServer> http_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int stops_ = 0;  // under mutex_
  bool ended_ = false;
};

// Runs a server until it is asked to stop; the exit status of the process. `on_ready` is called once it
// listens.
Result<int> run_server(engine::Engine& engine, ServerOptions options,
                       const std::function<void(const Server&)>& on_ready);

}  // namespace tempo9::server
