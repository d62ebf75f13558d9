// Server-sent events (WHATWG HTML, 9.2). One `data:` line per event: the data must hold no line break, which
// JSON text without indentation never does.
#pragma once
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace tempo9::server {

inline Headers event_stream_headers() {
  return {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
}

inline std::string format_event(std::string_view data) {
  std::string text = "data: ";
  text += data;
  text += "\n\n";
  return text;
}

// For clients that go by the event's name.
inline std::string format_event(std::string_view name, std::string_view data) {
  std::string text = "event: ";
  text += name;
  text += '\n';
  text += format_event(data);
  return text;
}

}  // namespace tempo9::server
