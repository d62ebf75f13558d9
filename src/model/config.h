// The keys that all transformer architectures share, read and checked. Shapes are plain counts.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gguf/file.h"

namespace tempo9::model {

struct TransformerConfig {
  int layers = 0;
  int embedding = 0;
  int feed_forward = 0;  // 0 where every layer has experts and the key is absent
  int query_heads = 0, kv_heads = 0;
  int head_size = 0;
  int vocabulary = 0;
  int context = 0;
  int rope_dimensions = 0;  // leading elements of a head that are rotated
  double rope_theta = 10000.0;
  float norm_epsilon = 0;
};

// Keys are looked up as "<prefix>.<key>". An error names the key.
Result<TransformerConfig> read_transformer_config(const gguf::File& file, std::string_view prefix);

// A count from 1 to `most`, absent: `fallback` if that is not 0.
Result<int> read_count(const gguf::Metadata& metadata, const std::string& key, uint64_t most,
                       uint64_t fallback = 0);

// "<prefix>.attention.sliding_window": tokens a row of a windowed layer sees, itself included.
Result<int> read_window(const gguf::Metadata& metadata, std::string_view prefix);
// "<prefix>.attention.head_count_kv" as one entry per layer.
Result<std::vector<int64_t>> read_kv_heads(const gguf::Metadata& metadata, std::string_view prefix,
                                           const TransformerConfig& config);
// Which of a token's three positions (time, row, column) turns each frequency, from
// "<prefix>.rope.dimension_sections"; empty without that key. Frequency i uses the row if i mod 3 = 1 and i <
// 3 sections[1], the column if i mod 3 = 2 and i < 3 sections[2].
Result<std::vector<int32_t>> read_rope_axes(const gguf::Metadata& metadata, std::string_view prefix,
                                            int frequencies);

}  // namespace tempo9::model
