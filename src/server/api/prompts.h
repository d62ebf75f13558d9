// Requests to token ids.
#pragma once
#include <string>
#include <vector>

#include "server/api/api_error.h"
#include "server/api/service.h"

namespace tempo9::server {

struct Prompt {
  std::vector<TokenId> ids;
  std::vector<int> boundaries{};  // see engine::Request
  chat::ReplyStart reply{};
};

// Whatever its length. `field` is where the conversation stands in the request.
ApiResult<Prompt> prepare_chat(const Service& service, const chat::ChatRequest& request,
                               const std::string& field);

// How many tokens a conversation has, for those who want to know without a reply. In the caller's turn: the
// engine has no part in it.
ApiResult<int> count_tokens(Service& service, const ApiResult<ApiRequest>& request);

// One prompt for a conversation, one for each text otherwise. Fails if one is empty or leaves no room in the
// context.
ApiResult<std::vector<Prompt>> make_prompts(const Service& service, const ApiRequest& request);

}  // namespace tempo9::server
