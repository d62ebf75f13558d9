#include "text/tokenizer.h"

#include <array>

#include "text/tokenizer_kinds.h"

namespace tempo9::text {
namespace {

struct Kind {
  std::string_view model;  // tokenizer.ggml.model
  Result<std::unique_ptr<Tokenizer>> (*make)(const gguf::Metadata&);
};

constexpr std::array<Kind, 3> kKinds = {{
    {"gpt2", make_byte_bpe},
    {"llama", make_sentence_piece},
    {"gemma4", make_gemma},
}};

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_tokenizer(const gguf::Metadata& metadata) {
  TRY_ASSIGN(const std::string_view model, metadata.string("tokenizer.ggml.model"));
  for (const Kind& kind : kKinds)
    if (kind.model == model) return kind.make(metadata);
  return fail(ErrorCode::kUnsupported,
              "tokenizer.ggml.model is '{}', a kind of tokenizer that is not supported", model);
}

}  // namespace tempo9::text
