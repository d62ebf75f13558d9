#include "server/http/gate.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tempo9::server {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

bool is_digits(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_address_literal(const std::string& host) {
  in_addr v4 = {};
  in6_addr v6 = {};
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    return inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6) == 1;
  return inet_pton(AF_INET, host.c_str(), &v4) == 1;
}

// Takes as long for a wrong key as for a right one, so that time does not tell how much of it was right.
bool equal_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < secret.size(); ++i)
    difference |=
        static_cast<unsigned char>(secret[i]) ^ static_cast<unsigned char>(i < given.size() ? given[i] : 0);
  return difference == 0;
}

std::string_view given_key(const HttpRequest& request) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view authorization = request.header("authorization");
  if (lower(authorization.substr(0, kScheme.size())) == kScheme) return authorization.substr(kScheme.size());
  return request.header("x-api-key");
}

}  // namespace

std::optional<std::string> host_name(std::string_view authority) {
  const size_t name_end = authority.starts_with('[') ? authority.find(']') + 1 : authority.find(':');
  const std::string_view name = authority.substr(0, name_end);
  std::string_view port = name.size() < authority.size() ? authority.substr(name.size()) : std::string_view();
  if (name.empty()) return std::nullopt;
  if (!port.empty() && (!port.starts_with(':') || !is_digits(port.substr(1)))) return std::nullopt;
  return lower(name);
}

Gate::Gate(GateOptions options) : options_(std::move(options)) {
  for (std::string& host : options_.hosts) host = lower(host);
  for (const char* loopback : {"localhost", "127.0.0.1", "[::1]"}) options_.hosts.emplace_back(loopback);
}

bool Gate::known_host(std::string_view authority) const {
  const std::optional<std::string> name = host_name(authority);
  if (!name) return false;
  return std::ranges::find(options_.hosts, *name) != options_.hosts.end() ||
         (options_.any_address && is_address_literal(*name));
}

std::optional<Refusal> Gate::check_host(const HttpRequest& request) const {
  const auto hosts =
      std::ranges::count_if(request.headers, [](const auto& header) { return header.first == "host"; });
  if (hosts > 1 || (hosts == 0 && !request.http_1_0))
    return Refusal{400, "the request must have exactly one Host header"};
  if (hosts == 1 && !known_host(request.header("host")))
    return Refusal{403,
                   "this server does not answer to the Host of this request; start it with that name "
                   "among its allowed hosts if it should"};
  const std::string_view origin = request.header("origin");
  if (origin.empty()) return std::nullopt;
  const size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos || !known_host(origin.substr(scheme_end + 3)))
    return Refusal{403, "requests from web pages of other origins are not accepted"};
  return std::nullopt;
}

std::optional<Refusal> Gate::check_key(const HttpRequest& request) const {
  if (options_.api_keys.empty() || request.path == "/health" || request.path == "/") return std::nullopt;
  const std::string_view given = given_key(request);
  bool known = false;
  for (const std::string& key : options_.api_keys) known |= equal_secret(given, key);
  if (known) return std::nullopt;
  return Refusal{401, "a valid API key is required: send it as `Authorization: Bearer …` or `x-api-key: …`"};
}

std::optional<Refusal> Gate::check(const HttpRequest& request) const {
  if (auto refusal = check_host(request)) return refusal;
  return check_key(request);
}

}  // namespace tempo9::server
