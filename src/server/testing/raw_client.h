// A client for tests that sends the bytes it is told and nothing else. Every wait has a limit; one that runs
// out gives an incomplete answer, which the test then sees.
#pragma once
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tempo9::server::testing {

struct Answer {
  int status = 0;                              // 0: no complete head came
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // chunked coding removed
  bool complete = false;

  // The `data:` of each event of an event stream.
  std::vector<std::string> events() const;
};

class RawClient {
 public:
  explicit RawClient(int port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes);
  // Sends all of a request with the headers that every client sends.
  void request(std::string_view method, std::string_view path, std::string_view body = {},
               std::string_view extra_headers = {});
  // The next answer; bytes behind it are kept for the one after.
  Answer receive(std::chrono::milliseconds limit = std::chrono::seconds(5), bool head_only = false);
  // Waits until what has come and was not taken holds `text`.
  bool receive_text(std::string_view text, std::chrono::milliseconds limit = std::chrono::seconds(5));
  // Waits for the server to close; whether it did.
  bool closed_by_server(std::chrono::milliseconds limit = std::chrono::seconds(5));
  void close_writing();
  void close();
  const std::string& pending() const { return input_; }

 private:
  // Waits for bytes and reads all there are; false at the end, on an error or when `limit` has passed.
  bool read_some(std::chrono::steady_clock::time_point limit);
  bool parse(Answer& answer, bool head_only, bool at_end);
  int socket_ = -1;
  std::string input_;
  bool ended_ = false;
};

// One request on a connection of its own.
Answer ask(int port, std::string_view method, std::string_view path, std::string_view body = {},
           std::string_view extra_headers = {});

}  // namespace tempo9::server::testing
