// HTTP messages as plain values.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempo9::server {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string id;           // "req_…"; also the answer's x-request-id and request-id
  std::string method;       // as sent: "GET"
  std::string path, query;  // of the target, split at the first '?'; not percent-decoded
  Headers headers;          // names in lower case, in the order sent
  std::string body;         // complete
  bool http_1_0 = false;

  // The first header of that (lower-case) name; empty if there is none.
  std::string_view header(std::string_view name) const {
    for (const auto& [header_name, value] : headers)
      if (header_name == name) return value;
    return {};
  }
};

struct Response {
  int status = 200;
  Headers headers;  // Content-Length, Connection, Date and the request's id are added when it is sent
  std::string body;
};

// Why a request is turned away before anybody has looked at its meaning.
struct Refusal {
  int status;
  std::string message;
};

}  // namespace tempo9::server
