// The makers of tokenizer.cpp's list, each in a file of its own.
#pragma once
#include <memory>

#include "base/result.h"
#include "gguf/metadata.h"
#include "text/tokenizer.h"

namespace tempo9::text {

Result<std::unique_ptr<Tokenizer>> make_byte_bpe(const gguf::Metadata& metadata);
Result<std::unique_ptr<Tokenizer>> make_sentence_piece(const gguf::Metadata& metadata);
Result<std::unique_ptr<Tokenizer>> make_gemma(const gguf::Metadata& metadata);

}  // namespace tempo9::text
