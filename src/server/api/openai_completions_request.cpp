#include "server/api/openai_completions_request.h"

#include <array>
#include <utility>

#include "base/limits.h"
#include "server/api/openai_fields.h"
#include "server/api/output_format.h"
#include "server/api/request_body.h"
#include "server/api/text_prompts.h"

namespace tempo9::server {
namespace {

constexpr int kDefaultTokens = 16;  // as the protocol says, for requests without `max_tokens`

constexpr std::array<UnsupportedField, 8> kUnsupported = {{
    {"echo"},
    {"suffix"},
    {"structured_outputs"},
    {"grammar"},
    {"json_schema"},
    {"guided_json"},
    {"guided_regex"},
    {"min_tokens"},
}};

constexpr std::array<std::string_view, 3> kIgnored = {"user", "metadata", "cache_prompt"};

}  // namespace

ApiResult<ApiRequest> parse_openai_completions(std::string_view body, const engine::ModelInfo& model) {
  return parse_body<ApiRequest>(body, [&](Fields& fields, ApiRequest& request) {
    request.max_new_tokens = kDefaultTokens;
    std::vector<TextPrompt> prompts =
        read_text_prompts(fields, "prompt", model.vocabulary_size, limits::kMaxSequences);
    read_common_fields(fields, model, request);
    if (const auto top = fields.integer("logprobs", 0, limits::kMaxTopLogprobs))
      request.sampling.top_logprobs = static_cast<int>(*top);
    if (fields.integer("best_of", 1, limits::kMaxChoices).value_or(1) > 1)
      fields.refuse(ErrorCode::kUnsupported, "best_of", "choosing among several replies is not supported");
    if (prompts.size() * static_cast<size_t>(request.choices) > limits::kMaxSequences)
      fields.refuse(ErrorCode::kInvalidArgument, "n",
                    fmt::format("prompts times n must be at most {}", limits::kMaxSequences));
    read_output_format(fields, "response_format", request.output);
    refuse_unsupported(fields, kUnsupported);
    ignore(fields, kIgnored);
    request.input = std::move(prompts);
  });
}

}  // namespace tempo9::server
