// What a client asks for, whatever dialect it came in. Plain values, checked for type and range.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chat/chat_request.h"
#include "engine/engine.h"

namespace tempo9::server {

using TextPrompt = std::variant<std::string, std::vector<TokenId>>;

struct ApiRequest {
  std::string model;  // as asked for; empty if it was left out
  // A conversation, or texts to go on from (each is a prompt of its own).
  std::variant<chat::ChatRequest, std::vector<TextPrompt>> input;
  sample::SamplingOptions sampling;  // its seed is set from `seed`
  std::optional<uint64_t> seed;      // absent: another one for every request
  int max_new_tokens = 0;            // 0: as many as the context holds
  std::vector<std::string> stop;
  int choices = 1;  // replies to each prompt
  bool stream = false;
  bool stream_usage = false;  // the stream ends with the usage
  std::vector<std::string> unknown_fields;
};

}  // namespace tempo9::server
