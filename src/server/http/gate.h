// Who may talk to the server: decided from a request's head alone, before its body is read.
//
// A web page must not drive a local server. By DNS rebinding a foreign page can reach a loopback port under
// its own name, so the Host must be one the server is known by; a page's direct requests carry their Origin,
// which must be such a host too. Programs send no Origin and pass. Nothing is ever allowed across origins: no
// answer carries Access-Control headers, so every preflight fails. Threads: immutable.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace tempo9::server {

struct GateOptions {
  std::vector<std::string> hosts;     // further names to answer to, without a port
  bool any_address = false;           // an address literal as Host passes: rebinding needs a name
  std::vector<std::string> api_keys;  // one is required if there are any
};

class Gate {
 public:
  explicit Gate(GateOptions options);
  std::optional<Refusal> check(const HttpRequest& request) const;

 private:
  bool known_host(std::string_view host) const;
  std::optional<Refusal> check_host(const HttpRequest& request) const;
  std::optional<Refusal> check_key(const HttpRequest& request) const;
  GateOptions options_;
};

// "name:port", "1.2.3.4", "[::1]:80" to the part before the port, in lower case; nothing if it is malformed.
std::optional<std::string> host_name(std::string_view authority);

}  // namespace tempo9::server
