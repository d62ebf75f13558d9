#include "server/http/session.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cctype>
#include <utility>

namespace tempo9::server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr size_t kReadBytes = 64 << 10;
// A head must fit whole; the rest is room to see that a client has left behind its pipelined requests.
constexpr size_t kMaxInputBytes = limits::kMaxHeaderBytes + 2 * kReadBytes;
// Time for a client that is still sending to read the answer: closing before it is done would reset the
// connection, and the answer would be lost.
constexpr std::chrono::seconds kLinger{2};

// Mixes a counter to an id that does not tell how many requests there were (splitmix64's finaliser).
std::string request_id(uint64_t counter) {
  uint64_t x = counter * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return fmt::format("req_{:016x}", x ^ (x >> 31));
}

// Members go in reverse order: the strand must not outlive its io_context.
struct StrandPost {
  std::shared_ptr<asio::io_context> io;
  asio::ip::tcp::socket::executor_type strand;
  void operator()(Exchange::Turn turn) const { asio::post(strand, std::move(turn)); }
};

Refusal refusal_for(error_code error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return {431, fmt::format("the request's head is larger than {} bytes", limits::kMaxHeaderBytes)};
  if (error == http::error::body_limit) return {413, "the request's body is too large"};
  return {400, fmt::format("malformed HTTP request: {}", error.message())};
}

}  // namespace

void SessionList::add(const std::shared_ptr<Session>& session) {
  const std::lock_guard lock(mutex_);
  sessions_.emplace(session.get(), session);
}

void SessionList::remove(Session* session) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(session);
}

std::vector<std::shared_ptr<Session>> SessionList::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Session>> result;
  for (const auto& [key, session] : sessions_)
    if (auto alive = session.lock()) result.push_back(std::move(alive));
  return result;
}

int SessionList::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(sessions_.size());
}

Session::Session(asio::ip::tcp::socket socket, SessionContext& context)
    : socket_(std::move(socket)), context_(context), wake_timer_(socket_.get_executor()) {
  chunk_.resize(kReadBytes);
}

Session::~Session() {
  release_body();
  context_.sessions.remove(this);
}

void Session::start() {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  context_.sessions.add(shared_from_this());
  asio::co_spawn(
      socket_.get_executor(), [self = shared_from_this()] { return self->serve(); },
      [self = shared_from_this()](std::exception_ptr failure) {
        if (failure) spdlog::error("a connection ended with an exception");
        self->fail_connection();
      });
}

void Session::drain() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->draining_ = true;
    self->wake();
  });
}

void Session::close() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->fail_connection(); });
}

asio::awaitable<void> Session::serve() {
  bool alive = true;
  while (alive) {
    const Arrival arrival = co_await read_request();
    if (arrival == Arrival::kNone) break;
    const Clock::time_point begin = Clock::now();
    open_exchange();
    if (arrival == Arrival::kRequest)
      hand_over();
    else
      exchange_->send(context_.application.refuse(*refusal_, request_.path));
    const bool sent = co_await write_response();
    log_request(begin);
    alive = sent && exchange_->keep_alive() && !draining_;
    exchange_.reset();
    if (sent && !alive && may_be_sending()) co_await linger();
  }
}

// ---- Waiting.

void Session::wake() {
  wake_timer_.cancel();
}

asio::awaitable<void> Session::wait_until(Clock::time_point deadline) {
  wake_timer_.expires_at(deadline);
  co_await wake_timer_.async_wait(kAwait);
}

// ---- The socket.

void Session::start_read() {
  if (reading_ || peer_closed_ || failed_ || input_.size() > kMaxInputBytes - kReadBytes) return;
  reading_ = true;
  socket_.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](error_code error, size_t count) {
    self->reading_ = false;
    if (!self->discarding_) self->input_.append(self->chunk_, 0, count);
    if (error)
      self->peer_closed();
    else
      self->start_read();
    self->wake();
  });
}

// The client has closed its side. One that still waits for an answer cannot be told from one that has left;
// clients cancel by closing, so an unfinished answer is given up.
void Session::peer_closed() {
  peer_closed_ = true;
  if (exchange_ && !exchange_->done()) fail_connection();
}

void Session::fail_connection() {
  failed_ = true;
  error_code ignored;
  socket_.close(ignored);
  if (exchange_) exchange_->close();
  wake();
}

void Session::start_write() {
  if (writing_ || failed_) return;
  if (sent_ == outgoing_.size()) {
    outgoing_ = exchange_->take_output();
    sent_ = 0;
    write_progress_ = Clock::now();
  }
  if (outgoing_.empty()) return;
  writing_ = true;
  socket_.async_write_some(asio::buffer(outgoing_) + sent_,
                           [self = shared_from_this()](error_code error, size_t count) {
                             self->writing_ = false;
                             self->sent_ += count;
                             self->write_progress_ = Clock::now();
                             if (error) self->fail_connection();
                             self->wake();
                           });
}

// ---- A request comes in.

void Session::begin_request() {
  parser_.emplace();
  parser_->header_limit(limits::kMaxHeaderBytes);
  parser_->body_limit(context_.options.max_body_bytes);
  request_ = {};
  refusal_.reset();
  discarding_ = false;
}

asio::awaitable<Session::Arrival> Session::read_request() {
  begin_request();
  bool begun = false, has_head = false;
  Clock::time_point deadline = Clock::now() + context_.options.idle_timeout;
  while (!parser_->is_done()) {
    const bool progress = parse_input();
    if (!has_head && parser_->is_header_done()) {
      has_head = true;
      deadline = Clock::now() + context_.options.body_timeout;
      if (!refusal_) accept_head();
    }
    if (!refusal_) account_body();
    if (refusal_) co_return Arrival::kRefused;
    if (progress) continue;
    if (!begun && !has_head && (parser_->got_some() || !input_.empty())) {
      begun = true;
      deadline = Clock::now() + context_.options.header_timeout;
    }
    const bool idle = !begun && !has_head;
    if (failed_ || peer_closed_ || (idle && draining_)) co_return Arrival::kNone;
    if (Clock::now() >= deadline) {
      if (idle) co_return Arrival::kNone;
      refuse(408, "the request did not arrive in time");
      co_return Arrival::kRefused;
    }
    start_read();
    co_await wait_until(deadline);
  }
  co_return Arrival::kRequest;
}

// Feeds what has been read to the parser; whether it took any of it.
bool Session::parse_input() {
  if (!parser_->got_some()) {
    const size_t blank = std::min(input_.find_first_not_of("\r\n"), input_.size());
    input_.erase(0, blank);  // RFC 9112, 2.2: empty lines before a request are ignored
  }
  if (input_.empty()) return false;
  error_code error;
  const size_t taken = parser_->put(asio::buffer(input_), error);
  input_.erase(0, taken);
  if (error && error != http::error::need_more) {
    refusal_ = refusal_for(error);
    read_head();  // as far as it came, for the refusal's form
  } else if (taken == 0 && input_.size() > kMaxInputBytes - kReadBytes) {
    refusal_ = refusal_for(http::error::header_limit);
  }
  return taken > 0;
}

void Session::refuse(int status, std::string message) {
  refusal_ = Refusal{status, std::move(message)};
}

void Session::read_head() {
  const auto& head = parser_->get();
  const std::string_view target(head.target().data(), head.target().size());
  const size_t question = target.find('?');
  request_.headers.clear();
  request_.method = std::string(head.method_string());
  request_.path = std::string(target.substr(0, question));
  if (question != std::string_view::npos) request_.query = std::string(target.substr(question + 1));
  request_.http_1_0 = head.version() == 10;
  for (const auto& field : head) {
    std::string name(field.name_string());
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    request_.headers.emplace_back(std::move(name), std::string(field.value()));
  }
}

// Judges a request by its head; false if it is refused.
bool Session::accept_head() {
  read_head();
  const auto& head = parser_->get();
  if (head.version() != 10 && head.version() != 11)
    refuse(400, "only HTTP/1.0 and HTTP/1.1 are spoken here");
  else if (!request_.path.starts_with('/') && request_.path != "*")
    refuse(400, "the request's target must be a path");
  else
    refusal_ = context_.gate.check(request_);
  if (refusal_) return false;
  const std::string_view expected = request_.header("expect");
  if (!expected.empty() && !parser_->is_done()) {
    if (expected != "100-continue") {
      refuse(417, "the only expectation met here is 100-continue");
      return false;
    }
    error_code ignored;  // a client that misses this goes on after a while
    asio::write(socket_, asio::buffer(std::string_view("HTTP/1.1 100 Continue\r\n\r\n")), ignored);
  }
  return true;
}

// Keeps the sum of all bodies being received bounded; false if this one does not fit.
bool Session::account_body() {
  const size_t size = parser_->get().body().size();
  context_.body_bytes += size - body_accounted_;
  body_accounted_ = size;
  if (context_.body_bytes <= limits::kMaxBodyBytesInFlight) return true;
  refuse(503, "too many large requests are arriving at once");
  return false;
}

void Session::release_body() {
  context_.body_bytes -= body_accounted_;
  body_accounted_ = 0;
}

// ---- An answer goes out.

void Session::open_exchange() {
  Exchange::Options options;
  options.id = request_id(context_.id_salt + ++context_.requests);
  options.head_only = request_.method == "HEAD";
  options.http_1_0 = request_.http_1_0;
  options.keep_alive = !refusal_ && parser_->get().keep_alive();
  options.heartbeat_interval = context_.options.heartbeat;
  options.post = StrandPost{context_.io, socket_.get_executor()};
  options.wake = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->wake();
  };
  request_.id = options.id;
  exchange_ = std::make_shared<Exchange>(std::move(options));
  release_body();
  if (draining_) exchange_->stay_open(false);
}

void Session::hand_over() {
  HttpRequest whole = request_;  // what is left is for the log
  whole.body = std::move(parser_->get().body());
  try {
    context_.application.handle(std::move(whole), exchange_);
  } catch (const std::exception& failure) {  // out of memory: this request fails, the server goes on
    spdlog::error("a request failed with an exception: {}", failure.what());
    if (exchange_->started())
      fail_connection();
    else
      exchange_->send(context_.application.refuse({500, "the request could not be handled"}, ""));
  }
}

// Writes until the answer is complete (true) or the client is gone (false).
asio::awaitable<bool> Session::write_response() {
  if (peer_closed_ && !exchange_->done()) fail_connection();
  while (true) {
    start_read();
    start_write();
    if (failed_ || exchange_->closed()) {
      fail_connection();
      co_return false;
    }
    if (!writing_ && exchange_->done()) co_return true;
    Clock::time_point deadline = Clock::time_point::max();
    if (writing_)
      deadline = write_progress_ + context_.options.write_timeout;
    else if (const auto due = exchange_->heartbeat_due())
      deadline = *due;
    if (Clock::now() < deadline)
      co_await wait_until(deadline);
    else if (writing_)
      fail_connection();
    else
      exchange_->beat();
  }
}

bool Session::may_be_sending() const {
  return refusal_.has_value() || !input_.empty();
}

asio::awaitable<void> Session::linger() {
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  discarding_ = true;
  input_.clear();
  const Clock::time_point deadline = Clock::now() + kLinger;
  while (!peer_closed_ && !failed_ && Clock::now() < deadline) {
    start_read();
    co_await wait_until(deadline);
  }
}

void Session::log_request(Clock::time_point begin) const {
  const auto elapsed = std::chrono::duration<double, std::milli>(Clock::now() - begin);
  std::string line = fmt::format("request id={} method={} path={} status={} ms={:.1f}", request_.id,
                                 request_.method, request_.path, exchange_->status(), elapsed.count());
  if (exchange_->closed()) line += " client=gone";
  for (const auto& [name, value] : exchange_->notes()) line += fmt::format(" {}={}", name, value);
  spdlog::info("{}", line);
}

}  // namespace tempo9::server
