// One request being answered: turns a ResponseWriter's calls into the bytes of an HTTP/1.1 (or 1.0) response.
// Knows no socket; the session takes the bytes from it. Threads: see ResponseWriter; all in the session's
// turns.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "server/http/response_writer.h"

namespace tempo9::server {

class Exchange final : public ResponseWriter {
 public:
  using Clock = std::chrono::steady_clock;
  using Turn = std::function<void()>;
  struct Options {
    std::string id;
    bool head_only = false;  // HEAD: the response's head alone
    bool http_1_0 = false;   // no chunked coding: a stream ends with the connection
    bool keep_alive = true;  // what the client allows
    std::chrono::milliseconds heartbeat_interval{10000};
    std::function<void(Turn)> post;  // any thread
    std::function<void()> wake;      // there are bytes to take, or the end has come
  };
  explicit Exchange(Options options) : options_(std::move(options)) {}

  // ResponseWriter
  void send(Response response) override;
  void begin_stream(StreamStart start) override;
  void write(std::string_view bytes) override;
  void end() override;
  bool closed() const override { return state_ == State::kClosed; }
  void on_closed(std::function<void()> callback) override;
  void post(Turn turn) override { options_.post(std::move(turn)); }
  void note(std::string_view name, std::string value) override;

  // For the session.
  std::string take_output();
  bool has_output() const { return !output_.empty(); }
  bool started() const { return state_ != State::kWaiting; }
  bool done() const { return state_ == State::kDone; }
  void close();  // the client is gone; does nothing if the answer is complete
  void stay_open(bool keep_alive) { options_.keep_alive = options_.keep_alive && keep_alive; }
  bool keep_alive() const { return options_.keep_alive; }
  std::optional<Clock::time_point> heartbeat_due() const;
  void beat();
  int status() const { return status_; }  // 0 before the head is written
  const std::vector<std::pair<std::string, std::string>>& notes() const { return notes_; }

 private:
  enum class State { kWaiting, kStreaming, kDone, kClosed };
  void put_head(int status, const Headers& headers, const Headers& framing);

  Options options_;
  State state_ = State::kWaiting;
  int status_ = 0;
  std::string output_;
  std::function<std::string()> heartbeat_;
  Clock::time_point last_write_{};
  std::function<void()> closed_callback_;
  std::vector<std::pair<std::string, std::string>> notes_;
};

}  // namespace tempo9::server
