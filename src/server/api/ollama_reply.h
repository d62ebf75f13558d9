// Replies in the form of Ollama's chat and generate, whole or as lines of JSON.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "server/api/chat_delta.h"
#include "server/api/json_parse.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

struct OllamaReplyOptions {
  std::string request_id;
  std::string model;  // as the client calls it
  bool chat = false;  // /api/chat; otherwise /api/generate
  bool stream = false;
  bool logprobs = false;
};

// The time that a reply took counts from here.
std::unique_ptr<ReplyWriter> make_ollama_reply(OllamaReplyOptions options,
                                               std::shared_ptr<ResponseWriter> response);

// The answer to a request that only asks for the model to be there, or to go (which it does not).
Json ollama_load_reply(const OllamaReplyOptions& options, bool unload);

}  // namespace tempo9::server
