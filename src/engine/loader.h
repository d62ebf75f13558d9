// From a path to the parts of an engine. The server's engine and the offline commands share it.
#pragma once
#include <memory>

#include "engine/engine.h"
#include "engine/model_runner.h"

namespace tempo9::engine {

struct LoadedModel {
  std::shared_ptr<const gguf::File> file;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<ModelRunner> runner;
  ModelInfo info;
};

// `max_logit_rows`: rows of one step that may ask for logits.
Result<LoadedModel> load_model_parts(const EngineOptions& options, int max_logit_rows,
                                     const Progress& progress);

// What stands in the way of running the file, as an error; if nothing does, what a user should know about it.
Result<std::vector<std::string>> check_runnable(const gguf::File& file);

// Ids of `text`, with the begin-of-text token that the model asks for if the text does not begin with it.
std::vector<TokenId> encode_prompt(const text::Tokenizer& tokenizer, std::string_view text,
                                   const text::SpecialTokens& special);

}  // namespace tempo9::engine
