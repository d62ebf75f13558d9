#include "server/http/gate.h"

#include <gtest/gtest.h>

namespace tempo9::server {
namespace {

HttpRequest request(Headers headers, std::string path = "/v1/models") {
  HttpRequest result;
  result.method = "GET";
  result.path = std::move(path);
  result.headers = std::move(headers);
  return result;
}

int status(const Gate& gate, const HttpRequest& asked) {
  const auto refusal = gate.check(asked);
  return refusal ? refusal->status : 200;
}

TEST(Gate, AnswersToLoopbackNamesOnly) {
  const Gate gate({});
  for (const char* host : {"localhost", "LocalHost:11435", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:9"})
    EXPECT_EQ(status(gate, request({{"host", host}})), 200) << host;
  for (const char* host :
       {"evil.example", "evil.example:11435", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.2",
        "192.168.1.5", "localhost:80:80", "localhost:x", "[::1", "::1", "[::2]", "", ":80",
        "localhost@evil.example", "localhost "})
    EXPECT_EQ(status(gate, request({{"host", host}})), 403) << host;
}

TEST(Gate, AnswersToNamesItWasGiven) {
  const Gate gate({.hosts = {"Box.lan", "10.0.0.7"}, .any_address = false, .api_keys = {}});
  EXPECT_EQ(status(gate, request({{"host", "box.LAN:11435"}})), 200);
  EXPECT_EQ(status(gate, request({{"host", "10.0.0.7"}})), 200);
  EXPECT_EQ(status(gate, request({{"host", "10.0.0.8"}})), 403);
}

TEST(Gate, AnAddressCannotBeRebound) {
  const Gate gate({.hosts = {}, .any_address = true, .api_keys = {}});
  EXPECT_EQ(status(gate, request({{"host", "192.168.1.5:11435"}})), 200);
  EXPECT_EQ(status(gate, request({{"host", "[fe80::1]:11435"}})), 200);
  EXPECT_EQ(status(gate, request({{"host", "evil.example"}})), 403);
  EXPECT_EQ(status(gate, request({{"host", "192.168.1.5.evil.example"}})), 403);
}

TEST(Gate, WantsExactlyOneHost) {
  const Gate gate({});
  EXPECT_EQ(status(gate, request({})), 400);
  EXPECT_EQ(status(gate, request({{"host", "localhost"}, {"host", "localhost"}})), 400);
  HttpRequest old = request({});
  old.http_1_0 = true;
  EXPECT_EQ(status(gate, old), 200);
}

TEST(Gate, RefusesForeignOrigins) {
  const Gate gate({});
  const auto with_origin = [&](const char* origin) {
    return status(gate, request({{"host", "localhost"}, {"origin", origin}}));
  };
  for (const char* origin : {"https://evil.example", "null", "file://", "chrome-extension://abcdef",
                             "http://localhost.evil.example", "localhost"})
    EXPECT_EQ(with_origin(origin), 403) << origin;
  EXPECT_EQ(with_origin("http://localhost:3000"), 200);
  EXPECT_EQ(with_origin("http://127.0.0.1:11435"), 200);
}

TEST(Gate, WantsAKeyIfThereAreAny) {
  const Gate gate({.hosts = {}, .any_address = false, .api_keys = {"first", "second"}});
  const auto with = [&](const char* name, const char* value) {
    return status(gate, request({{"host", "localhost"}, {name, value}}));
  };
  EXPECT_EQ(with("authorization", "Bearer first"), 200);
  EXPECT_EQ(with("authorization", "bearer second"), 200);
  EXPECT_EQ(with("x-api-key", "second"), 200);
  for (const char* wrong :
       {"Bearer third", "Bearer ", "Bearer firs", "Bearer firstx", "first", "Basic first"})
    EXPECT_EQ(with("authorization", wrong), 401) << wrong;
  EXPECT_EQ(status(gate, request({{"host", "localhost"}})), 401);
  EXPECT_EQ(status(gate, request({{"host", "localhost"}}, "/health")), 200);
  EXPECT_EQ(status(gate, request({{"host", "evil.example"}, {"x-api-key", "first"}})), 403);
}

}  // namespace
}  // namespace tempo9::server
