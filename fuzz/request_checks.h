// What must hold for any body of a request, whatever its dialect: it is read into values within their bounds,
// or refused with a reason that can be told.
#pragma once
#include <string_view>
#include <variant>

#include "base/check.h"
#include "base/limits.h"
#include "server/api/api_request.h"
#include "server/api/openai_errors.h"

namespace tempo9::fuzz {

using Parse = server::ApiResult<server::ApiRequest> (*)(std::string_view, const engine::ModelInfo&);

inline void check_tool(const chat::Tool& tool) {
  CHECK(tool.declaration.at("function").at("name") == tool.name);
  CHECK(tool.name_space.empty() || tool.name.ends_with(tool.own_name));
}

inline void check_request(const server::ApiRequest& request) {
  CHECK(request.choices >= 1 && request.choices <= limits::kMaxChoices);
  CHECK(request.max_new_tokens >= 0);
  CHECK(request.stop.size() <= limits::kMaxStopStrings);
  for (const std::string& stop : request.stop)
    CHECK(!stop.empty() && stop.size() <= limits::kMaxStopStringBytes);
  const sample::SamplingOptions& sampling = request.sampling;
  CHECK(sampling.temperature >= 0 && sampling.top_k >= 0);
  CHECK(sampling.top_p > 0 && sampling.top_p <= 1);
  CHECK(sampling.min_p >= 0 && sampling.min_p <= 1);
  CHECK(sampling.repetition_penalty > 0);
  CHECK(sampling.top_logprobs <= limits::kMaxTopLogprobs);
  CHECK(!request.gap || !request.gap->message.empty());
  if (const auto* conversation = std::get_if<chat::ChatRequest>(&request.input))
    for (const chat::Tool& tool : conversation->tools) check_tool(tool);
}

inline void check_parse(Parse parse, std::string_view body) {
  engine::ModelInfo model;
  model.vocabulary_size = 1000;
  const auto request = parse(body, model);
  if (request) return check_request(*request);
  CHECK(!request.error().message.empty());
  CHECK(server::parse_json(server::openai_error(request.error()).body).has_value());
}

}  // namespace tempo9::fuzz
