#include "server/http/exchange.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "base/check.h"
#include "base/limits.h"

namespace tempo9::server {
namespace {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 529:
      return "Overloaded";
    default:
      return "Status";
  }
}

// RFC 9110, 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[64];
  const size_t length = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return std::string(text, length);
}

}  // namespace

void Exchange::put_head(int status, const Headers& headers, const Headers& framing) {
  status_ = status;
  output_ += fmt::format("HTTP/1.{} {} {}\r\n", options_.http_1_0 ? 0 : 1, status, reason_phrase(status));
  for (const Headers& group : {headers, framing})
    for (const auto& [name, value] : group) output_ += fmt::format("{}: {}\r\n", name, value);
  // The id by the name that OpenAI's clients read, and by that of Anthropic's.
  output_ += fmt::format("Date: {}\r\nx-request-id: {}\r\nrequest-id: {}\r\n", http_date(), options_.id,
                         options_.id);
  if (!options_.keep_alive)
    output_ += "Connection: close\r\n";
  else if (options_.http_1_0)
    output_ += "Connection: keep-alive\r\n";
  output_ += "\r\n";
  last_write_ = Clock::now();
}

void Exchange::send(Response response) {
  if (closed()) return;
  CHECK(state_ == State::kWaiting);
  put_head(response.status, response.headers, {{"Content-Length", std::to_string(response.body.size())}});
  if (!options_.head_only) output_ += response.body;
  state_ = State::kDone;
  options_.wake();
}

void Exchange::begin_stream(StreamStart start) {
  if (closed()) return;
  CHECK(state_ == State::kWaiting);
  if (options_.http_1_0) options_.keep_alive = false;
  put_head(start.status, start.headers,
           options_.http_1_0 ? Headers{} : Headers{{"Transfer-Encoding", "chunked"}});
  heartbeat_ = std::move(start.heartbeat);
  state_ = State::kStreaming;
  options_.wake();
}

void Exchange::write(std::string_view bytes) {
  if (closed() || bytes.empty()) return;
  CHECK(state_ == State::kStreaming);
  if (options_.head_only) return;
  if (output_.size() + bytes.size() > limits::kMaxUnsentBytes) {
    note("cut", "client does not read");
    close();
    options_.wake();
    return;
  }
  if (!options_.http_1_0) output_ += fmt::format("{:x}\r\n", bytes.size());
  output_ += bytes;
  if (!options_.http_1_0) output_ += "\r\n";
  last_write_ = Clock::now();
  options_.wake();
}

void Exchange::end() {
  if (closed()) return;
  CHECK(state_ == State::kStreaming);
  if (!options_.http_1_0 && !options_.head_only) output_ += "0\r\n\r\n";
  state_ = State::kDone;
  options_.wake();
}

void Exchange::on_closed(std::function<void()> callback) {
  if (closed())
    callback();
  else
    closed_callback_ = std::move(callback);
}

void Exchange::note(std::string_view name, std::string value) {
  for (auto& [known, text] : notes_)
    if (known == name) {
      text = std::move(value);
      return;
    }
  notes_.emplace_back(name, std::move(value));
}

std::string Exchange::take_output() {
  return std::exchange(output_, {});
}

void Exchange::close() {
  if (done() || closed()) return;
  state_ = State::kClosed;
  output_.clear();
  heartbeat_ = nullptr;
  if (const auto callback = std::exchange(closed_callback_, nullptr)) callback();
}

std::optional<Exchange::Clock::time_point> Exchange::heartbeat_due() const {
  if (state_ != State::kStreaming || !heartbeat_) return std::nullopt;
  return last_write_ + options_.heartbeat_interval;
}

void Exchange::beat() {
  if (state_ == State::kStreaming && heartbeat_) write(heartbeat_());
}

}  // namespace tempo9::server
