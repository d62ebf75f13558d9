// Bodies of OpenAI requests, as chat and as completion: whatever comes is read or refused with a reason.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/check.h"
#include "base/limits.h"
#include "server/api/openai_chat.h"
#include "server/api/openai_completions.h"
#include "server/api/openai_errors.h"

namespace {

using namespace tempo9;

void check_request(const server::ApiRequest& request) {
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
}

void check_parse(const server::ApiResult<server::ApiRequest>& request) {
  if (request) return check_request(*request);
  CHECK(!request.error().message.empty());
  CHECK(server::parse_json(server::openai_error(request.error()).body).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  tempo9::engine::ModelInfo model;
  model.vocabulary_size = 1000;
  check_parse(server::parse_openai_chat(body, model));
  check_parse(server::parse_openai_completions(body, model));
  return 0;
}
