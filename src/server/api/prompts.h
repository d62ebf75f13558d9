// Requests to token ids.
#pragma once
#include <vector>

#include "server/api/api_error.h"
#include "server/api/service.h"

namespace tempo9::server {

struct Prompt {
  std::vector<TokenId> ids;
  std::vector<int> boundaries{};  // see engine::Request
};

// One prompt for a conversation, one for each text otherwise. Fails if one is empty or leaves no room in the
// context.
ApiResult<std::vector<Prompt>> make_prompts(const Service& service, const ApiRequest& request);

}  // namespace tempo9::server
