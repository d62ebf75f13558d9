#include "server/api/openai_embeddings.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "base/limits.h"
#include "server/api/base64.h"
#include "server/api/embeddings.h"
#include "server/api/openai_errors.h"
#include "server/api/openai_fields.h"
#include "server/api/reply_parts.h"
#include "server/api/request_body.h"
#include "server/api/text_prompts.h"

namespace tempo9::server {
namespace {

struct OpenAiEmbeddingRequest : EmbeddingRequest {
  bool base64 = false;  // vectors as the bytes of little-endian floats
};

ApiResult<OpenAiEmbeddingRequest> parse_embedding_request(std::string_view body,
                                                          const engine::ModelInfo& model) {
  return parse_body<OpenAiEmbeddingRequest>(body, [&](Fields& fields, OpenAiEmbeddingRequest& request) {
    request.model = fields.string("model").value_or("");
    request.inputs = read_text_prompts(fields, "input", model.vocabulary_size, limits::kMaxEmbeddingInputs);
    request.dimensions =
        static_cast<int>(fields.integer("dimensions", 1, std::numeric_limits<int>::max()).value_or(0));
    const std::string format = fields.string("encoding_format").value_or("float");
    request.base64 = format == "base64";
    if (!request.base64 && format != "float")
      fields.refuse(ErrorCode::kInvalidArgument, "encoding_format",
                    fmt::format("'{}' is not one of float, base64", abbreviate(format)));
    constexpr std::array<std::string_view, 1> kIgnored = {"user"};
    ignore(fields, kIgnored);
  });
}

Json vector_value(const std::vector<float>& vector, bool base64) {
  if (!base64) return vector;
  static_assert(std::endian::native == std::endian::little);
  std::string bytes(vector.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), vector.data(), bytes.size());
  return encode_base64(bytes);
}

Json embedding_list(const Service& service, const Embeddings& embeddings, bool base64) {
  Json data = Json::array();
  for (size_t i = 0; i < embeddings.vectors.size(); ++i)
    data.push_back(
        {{"object", "embedding"}, {"index", i}, {"embedding", vector_value(embeddings.vectors[i], base64)}});
  Json body = {
      {"object", "list"},
      {"data", std::move(data)},
      {"model", service.model_id()},
      {"usage", {{"prompt_tokens", embeddings.prompt_tokens}, {"total_tokens", embeddings.prompt_tokens}}}};
  body.update(describe_pooling(service));
  return body;
}

}  // namespace

void handle_openai_embeddings(Service& service, HttpRequest request,
                              std::shared_ptr<ResponseWriter> response) {
  const auto parsed = parse_embedding_request(request.body, service.engine().info());
  if (!parsed) return response->send(openai_error(parsed.error()));
  auto answer = [&service, response, base64 = parsed->base64](const ApiResult<Embeddings>& result) {
    response->send(result ? json_response(200, embedding_list(service, *result, base64))
                          : openai_error(result.error()));
  };
  start_embedding(service, *parsed, response, std::move(answer));
}

}  // namespace tempo9::server
