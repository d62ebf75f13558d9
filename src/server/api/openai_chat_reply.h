// Replies in the form of OpenAI's Chat Completions.
//
// Log-probabilities are those of the tokens that the answer's text is made of; tokens of calls have no place
// in the protocol.
#pragma once
#include <memory>

#include "server/api/openai_reply.h"

namespace tempo9::server {

std::unique_ptr<ReplyWriter> make_openai_chat_reply(OpenAiReplyOptions options,
                                                    std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
