// A llama model small enough for any test: random weights, a vocabulary of the 256 bytes and a few control
// tokens. A complete GGUF file.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "quant/formats.h"

namespace tempo9::model::testing {

struct TinyLlama {
  unsigned seed = 1;
  quant::Format format = quant::Format::kF32;  // of matrices; vectors are F32
  int layers = 2, embedding = 64, feed_forward = 96, query_heads = 4, kv_heads = 2, head_size = 16,
      context = 512;
  bool tied = true;
  bool rope_divisors = false;

  // Changes to the file, for tests of refusals: tensors to leave out, to rename, to give a row more.
  std::string without{}, with_extra{}, misshapen{};

  std::vector<uint8_t> build() const;
  // Writes the file and returns its path.
  std::string write(const std::string& path) const;
};

inline constexpr int kTinyVocabulary = 261;
inline constexpr int kTinyEndOfTurn = 258;

}  // namespace tempo9::model::testing
