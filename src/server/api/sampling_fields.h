// Options of sampling and of a reply's end, named alike in every dialect.
#pragma once
#include <string_view>

#include "server/api/api_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

// temperature, top_p, top_k, min_p, penalties, logit_bias and seed.
void read_sampling(Fields& fields, const engine::ModelInfo& model, ApiRequest& request);

// A string or an array of strings.
void read_stop(Fields& fields, std::string_view name, ApiRequest& request);

// The most tokens of a reply; -1 is what several clients send for "no limit".
void read_max_tokens(Fields& fields, std::string_view name, ApiRequest& request);

}  // namespace tempo9::server
