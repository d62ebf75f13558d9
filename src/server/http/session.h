// One connection. Everything about it runs in its strand: a coroutine that reads a request, waits for its
// answer and goes on; and at most one read and one write on the socket, whose completions wake the coroutine.
// The read never stops while there is room, so a client that leaves is noticed whatever else is going on.
#pragma once
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "server/http/exchange.h"
#include "server/http/gate.h"
#include "server/http/http_server.h"

namespace tempo9::server {

class Session;

// The open sessions. Threads: any.
class SessionList {
 public:
  void add(const std::shared_ptr<Session>& session);
  void remove(Session* session);
  std::vector<std::shared_ptr<Session>> all() const;
  int size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Session*, std::weak_ptr<Session>> sessions_;
};

// What the sessions of one server share.
struct SessionContext {
  // Shared with every Exchange: an engine may let go of one after the server has ended.
  std::shared_ptr<boost::asio::io_context> io;
  HttpOptions options;
  HttpApplication& application;
  Gate gate;
  SessionList sessions;
  std::atomic<uint64_t> requests = 0;
  std::atomic<size_t> body_bytes = 0;  // being received at the moment
  uint64_t id_salt = 0;                // makes request ids of two runs differ
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Clock = std::chrono::steady_clock;

  // The socket's executor is the session's strand. `context` must outlive the session.
  Session(boost::asio::ip::tcp::socket socket, SessionContext& context);
  ~Session();
  void start();
  // From any thread. drain(): ends when the current request is answered; close(): ends now.
  void drain();
  void close();

 private:
  enum class Arrival { kRequest, kRefused, kNone };
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  boost::asio::awaitable<void> serve();
  boost::asio::awaitable<Arrival> read_request();
  boost::asio::awaitable<bool> write_response();
  boost::asio::awaitable<void> linger();
  boost::asio::awaitable<void> wait_until(Clock::time_point deadline);
  void wake();

  void start_read();
  void start_write();
  void peer_closed();
  void fail_connection();

  void begin_request();
  bool parse_input();
  void read_head();
  bool accept_head();
  bool account_body();
  void release_body();
  void refuse(int status, std::string message);
  void open_exchange();
  void hand_over();
  bool may_be_sending() const;
  void log_request(Clock::time_point begin) const;

  boost::asio::ip::tcp::socket socket_;
  SessionContext& context_;
  boost::asio::steady_timer wake_timer_;

  std::string chunk_, input_;  // the read in flight; bytes read and not yet parsed
  bool reading_ = false, peer_closed_ = false, discarding_ = false;
  std::string outgoing_;  // the write in flight
  size_t sent_ = 0;
  bool writing_ = false, failed_ = false, draining_ = false;
  Clock::time_point write_progress_{};

  std::optional<Parser> parser_;
  HttpRequest request_;
  std::optional<Refusal> refusal_;
  size_t body_accounted_ = 0;
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace tempo9::server
