// Texts to embeddings, the same for every dialect: tokenise, submit a bounded number at once, hand on the
// vectors. A client that leaves cancels what runs for it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/api/api_error.h"
#include "server/api/api_request.h"
#include "server/api/json_parse.h"
#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

struct EmbeddingRequest {
  std::string model;
  std::vector<TextPrompt> inputs;
  std::string input_field = "input";
  int dimensions = 0;     // the first so many values, made a vector of length 1 again; 0: all
  bool truncate = false;  // a text that is too long is cut instead of refused
  std::vector<std::string> unknown_fields;
};

struct Embeddings {
  std::vector<std::vector<float>> vectors;  // of the inputs, in their order
  int prompt_tokens = 0;
};

// In a turn of the session. Calls `done` once, in such a turn, unless the client leaves before.
using EmbeddingsDone = std::function<void(const ApiResult<Embeddings>&)>;
void start_embedding(Service& service, const EmbeddingRequest& request,
                     std::shared_ptr<ResponseWriter> response, EmbeddingsDone done);

// How the vectors were made, as members for a reply: what came out of a model that was made to generate text
// is labelled so.
Json describe_pooling(const Service& service);

}  // namespace tempo9::server
