#include "server/testing/raw_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "base/check.h"

namespace tempo9::server::testing {
namespace {

using Clock = std::chrono::steady_clock;

// The body behind a chunked coding; nothing while it is incomplete. `used` is what it took of `text`.
std::optional<std::string> unchunk(std::string_view text, size_t& used) {
  std::string body;
  size_t at = 0;
  while (true) {
    const size_t line_end = text.find("\r\n", at);
    if (line_end == text.npos) return std::nullopt;
    const size_t size = std::strtoull(std::string(text.substr(at, line_end - at)).c_str(), nullptr, 16);
    if (text.size() < line_end + 2 + size + 2) return std::nullopt;
    body += text.substr(line_end + 2, size);
    at = line_end + 2 + size + 2;
    if (size == 0) break;
  }
  used = at;
  return body;
}

}  // namespace

std::vector<std::string> Answer::events() const {
  std::vector<std::string> result;
  for (size_t at = 0; (at = body.find("data: ", at)) != body.npos;) {
    const size_t end = body.find("\n\n", at);
    if (end == body.npos) break;
    result.push_back(body.substr(at + 6, end - at - 6));
    at = end;
  }
  return result;
}

RawClient::RawClient(int port) {
  socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}

RawClient::~RawClient() {
  close();
}

void RawClient::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void RawClient::close_writing() {
  ::shutdown(socket_, SHUT_WR);
}

void RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the server has closed: the test sees it by the answer
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void RawClient::request(std::string_view method, std::string_view path, std::string_view body,
                        std::string_view extra_headers) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}", method, path, extra_headers);
  if (!body.empty())
    head += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
  send(head + "\r\n" + std::string(body));
}

bool RawClient::read_some(Clock::time_point limit) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
  pollfd descriptor = {socket_, POLLIN, 0};
  if (ended_ || left <= 0 || ::poll(&descriptor, 1, static_cast<int>(left)) <= 0) return false;
  char buffer[65536];
  ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
  ended_ = count <= 0;
  const bool got_some = count > 0;
  for (; count > 0; count = ::recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT))
    input_.append(buffer, static_cast<size_t>(count));
  return got_some;
}

bool RawClient::parse(Answer& answer, bool head_only, bool at_end) {
  const size_t head_end = input_.find("\r\n\r\n");
  if (head_end == input_.npos) return false;
  answer = {};
  const std::string_view head = std::string_view(input_).substr(0, head_end + 2);
  if (head.size() > 12) answer.status = std::atoi(std::string(head.substr(9, 3)).c_str());
  for (size_t at = head.find("\r\n") + 2; at < head.size(); at = head.find("\r\n", at) + 2) {
    const std::string_view line = head.substr(at, head.find("\r\n", at) - at);
    const size_t colon = line.find(':');
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    answer.headers[name] = line.substr(std::min(colon + 2, line.size()));
  }
  const std::string_view rest = std::string_view(input_).substr(head_end + 4);
  size_t used = 0;
  if (head_only || answer.status == 100) {
    answer.complete = true;
  } else if (answer.headers["transfer-encoding"] == "chunked") {
    const auto body = unchunk(rest, used);
    answer.complete = body.has_value();
    answer.body = body ? *body : std::string(rest);
  } else if (answer.headers.contains("content-length")) {
    const size_t length = std::strtoull(answer.headers["content-length"].c_str(), nullptr, 10);
    answer.complete = rest.size() >= length;
    used = std::min(length, rest.size());
    answer.body = rest.substr(0, used);
  } else {
    answer.complete = at_end;
    used = rest.size();
    answer.body = rest;
  }
  if (answer.complete) input_.erase(0, head_end + 4 + used);
  return answer.complete;
}

Answer RawClient::receive(std::chrono::milliseconds limit, bool head_only) {
  const auto deadline = Clock::now() + limit;
  Answer answer;
  while (!parse(answer, head_only, ended_))
    if (!read_some(deadline)) {
      parse(answer, head_only, ended_);
      break;
    }
  return answer;
}

bool RawClient::receive_text(std::string_view text, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (input_.find(text) == input_.npos)
    if (!read_some(deadline)) return false;
  return true;
}

bool RawClient::closed_by_server(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (read_some(deadline)) continue;
  return ended_;
}

Answer ask(int port, std::string_view method, std::string_view path, std::string_view body,
           std::string_view extra_headers) {
  RawClient client(port);
  client.request(method, path, body, extra_headers);
  return client.receive(std::chrono::seconds(5), method == "HEAD");
}

}  // namespace tempo9::server::testing
