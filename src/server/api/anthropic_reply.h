// Replies in the form of Anthropic's Messages, whole or as a stream of events.
#pragma once
#include <memory>
#include <string>

#include "server/api/chat_delta.h"
#include "server/api/client_calls.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

struct AnthropicReplyOptions {
  std::string request_id, model;
  bool stream = false;
  bool thinking = false;  // the client has asked for it, so it takes blocks of thinking
  CalledTools tools;
};

std::unique_ptr<ReplyWriter> make_anthropic_reply(AnthropicReplyOptions options,
                                                  std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
