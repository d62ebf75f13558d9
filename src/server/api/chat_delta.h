// What a reply is made of while it comes, in no dialect: the core (generation.h) makes deltas, a dialect's
// ReplyWriter turns them into its own JSON.
#pragma once
#include <optional>
#include <string>
#include <vector>

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

enum class StopReason { kEnd, kStopString, kLength };

struct ChatDelta {
  int choice = 0;                    // which of the replies: prompt times choices + choice
  std::string text;                  // of the answer; whole characters
  std::string reasoning;             // of the thinking before it
  std::vector<TokenReport> tokens;   // if log-probabilities were asked for: the tokens that `text` completes
  std::optional<StopReason> finish;  // only in a choice's last delta
};

struct ReplyUsage {
  int prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0;
};

// Calls come in this order: fail(); or begin(), any number of add(), then finish() or fail().
class ReplyWriter {
 public:
  virtual ~ReplyWriter() = default;
  virtual void begin() = 0;  // the engine has accepted the request
  virtual void add(ChatDelta delta) = 0;
  virtual void finish(const ReplyUsage& usage) = 0;  // every choice has finished
  virtual void fail(const ApiError& error) = 0;
};

}  // namespace tempo9::server
