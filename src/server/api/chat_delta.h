// What a reply is made of while it comes, in no dialect: the core (generation.h) makes deltas, a dialect's
// ReplyWriter turns them into its own JSON.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "chat/call_delta.h"
#include "server/api/api_error.h"

namespace tempo9::server {

struct TokenText {
  std::string bytes;  // not necessarily whole characters
  float logprob = 0;
};

struct TokenReport {
  TokenText chosen;
  std::vector<TokenText> top;  // most probable first
  size_t text_offset = 0;      // characters of the reply before it
};

// kCalls: at its own end or a stop string, and there are complete calls in it. A reply that its length cuts
// has that reason whatever is in it.
enum class StopReason { kEnd, kStopString, kCalls, kLength };

struct ChatDelta {
  int choice = 0;                      // which of the replies: prompt times choices + choice
  std::string reasoning;               // of the thinking; whole characters
  std::string text;                    // of the answer behind it
  std::vector<chat::CallDelta> calls;  // behind `text`; text behind a call comes in a delta of its own
  std::vector<TokenReport> tokens;   // if log-probabilities were asked for: those of the texts, not of calls
  std::optional<StopReason> finish;  // only in a choice's last delta
  std::string stop_string;           // for kStopString: the one that ended it
};

struct ReplyUsage {
  int prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0;
  int reasoning_tokens = 0;  // of the completion
  std::chrono::nanoseconds prompt_time{0}, generation_time{0};
};

// Calls come in this order: fail(); or begin(), any number of add(), then finish() or fail(). The writer
// lives until it has ended its answer or the client is gone.
class ReplyWriter {
 public:
  virtual ~ReplyWriter() = default;
  // The engine has accepted the request. How much of the prompt is cached is known at the end.
  virtual void begin(int prompt_tokens) = 0;
  virtual void add(ChatDelta delta) = 0;
  virtual void finish(const ReplyUsage& usage) = 0;  // every choice has finished
  virtual void fail(const ApiError& error) = 0;
};

}  // namespace tempo9::server
