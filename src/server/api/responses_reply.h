// Replies in the form of OpenAI's Responses, whole or as a stream of events.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "server/api/chat_delta.h"
#include "server/api/client_calls.h"
#include "server/api/json_parse.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

struct ResponsesReplyOptions {
  std::string request_id;
  CalledTools tools;
  Json frame;  // the response object as it begins: id, options of the request, no output
  bool stream = false;
  bool logprobs = false;
  bool summary = false;            // thinking is shown as its own summary
  bool carries_reasoning = false;  // the client keeps reasoning only as `encrypted_content`
  // Gets the finished response object, without calls that were withdrawn.
  std::function<void(const Json& response)> keep;
};

std::unique_ptr<ReplyWriter> make_responses_reply(ResponsesReplyOptions options,
                                                  std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
