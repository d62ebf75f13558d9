// One answer on its way to the client: either send(), or begin_stream(), any number of write(), end().
// A session runs its turns one after another: the application's handler, the callbacks below and whatever was
// posted. Threads: post() from any thread, also after the answer is complete; everything else in a turn.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace tempo9::server {

struct StreamStart {
  int status = 200;
  Headers headers;
  // Asked for bytes to write whenever nothing has been written for the server's heartbeat interval. May be
  // empty: then nothing is sent.
  std::function<std::string()> heartbeat;
};

class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;

  virtual void send(Response response) = 0;
  virtual void begin_stream(StreamStart start) = 0;
  // Never blocks: what the client has not read yet is kept, at most limits::kMaxUnsentBytes; a client that
  // falls further behind is disconnected.
  virtual void write(std::string_view bytes) = 0;
  virtual void end() = 0;

  // The client is gone before the answer was complete. Everything written from then on is dropped.
  virtual bool closed() const = 0;
  // Called once, at that moment.
  virtual void on_closed(std::function<void()> callback) = 0;

  // Runs `turn` in the session's order, soon. It may never run once the server has stopped.
  virtual void post(std::function<void()> turn) = 0;

  // Adds `name=value` to the line logged for this request.
  virtual void note(std::string_view name, std::string value) = 0;
};

}  // namespace tempo9::server
