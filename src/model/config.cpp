#include "model/config.h"

#include <limits>

namespace tempo9::model {
namespace {

constexpr uint64_t kMostLayers = 1024, kMostWidth = 1 << 20, kMostHeads = 4096, kMostHeadSize = 1024,
                   kMostContext = 1u << 30;

Status check_shape(const TransformerConfig& c, std::string_view prefix) {
  if (c.rope_dimensions > c.head_size || c.rope_dimensions % 2 != 0)
    return fail(ErrorCode::kCorrupt,
                "{}.rope.dimension_count is {}, expected an even number up to the head size {}", prefix,
                c.rope_dimensions, c.head_size);
  if (!(c.rope_theta > 1.0) || !(c.rope_theta < 1e12))
    return fail(ErrorCode::kCorrupt, "{}.rope.freq_base is {}", prefix, c.rope_theta);
  if (!(c.norm_epsilon >= 0.0f) || !(c.norm_epsilon < 1.0f))
    return fail(ErrorCode::kCorrupt, "{}.attention.layer_norm_rms_epsilon is {}", prefix, c.norm_epsilon);
  return {};
}

}  // namespace

Result<int> read_count(const gguf::Metadata& metadata, const std::string& key, uint64_t most,
                       uint64_t fallback) {
  TRY_ASSIGN(const uint64_t value,
             fallback == 0 ? metadata.unsigned_integer(key) : metadata.unsigned_integer_or(key, fallback));
  if (value == 0 || value > most)
    return fail(ErrorCode::kCorrupt, "{} is {}, expected 1 to {}", key, value, most);
  return static_cast<int>(value);
}

Result<TransformerConfig> read_transformer_config(const gguf::File& file, std::string_view prefix) {
  const gguf::Metadata& metadata = file.metadata();
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", prefix, name); };
  TransformerConfig c;
  TRY_ASSIGN(c.layers, read_count(metadata, key("block_count"), kMostLayers));
  TRY_ASSIGN(c.embedding, read_count(metadata, key("embedding_length"), kMostWidth));
  if (metadata.has(key("feed_forward_length"))) {
    TRY_ASSIGN(c.feed_forward, read_count(metadata, key("feed_forward_length"), kMostWidth));
  }
  TRY_ASSIGN(c.context, read_count(metadata, key("context_length"), kMostContext));
  TRY_ASSIGN(c.query_heads, read_count(metadata, key("attention.head_count"), kMostHeads));
  TRY_ASSIGN(const std::vector<int64_t> kv_heads, read_kv_heads(metadata, prefix, c));
  c.kv_heads = static_cast<int>(kv_heads.front());
  TRY_ASSIGN(c.head_size, read_count(metadata, key("attention.key_length"), kMostHeadSize,
                                     static_cast<uint64_t>(std::max(1, c.embedding / c.query_heads))));
  TRY_ASSIGN(const int value_size, read_count(metadata, key("attention.value_length"), kMostHeadSize,
                                              static_cast<uint64_t>(c.head_size)));
  if (value_size != c.head_size)
    return fail(ErrorCode::kUnsupported, "{} ({}) differs from the key length ({})",
                key("attention.value_length"), value_size, c.head_size);
  TRY_ASSIGN(c.rope_dimensions, read_count(metadata, key("rope.dimension_count"), kMostHeadSize,
                                           static_cast<uint64_t>(c.head_size)));
  TRY_ASSIGN(c.rope_theta, metadata.real_or(key("rope.freq_base"), 10000.0));
  TRY_ASSIGN(const double epsilon, metadata.real(key("attention.layer_norm_rms_epsilon")));
  c.norm_epsilon = static_cast<float>(epsilon);
  const gguf::Tensor* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr) return fail(ErrorCode::kCorrupt, "the file has no tensor 'token_embd.weight'");
  if (embedding->shape[1] > static_cast<uint64_t>(std::numeric_limits<int>::max()))
    return fail(ErrorCode::kCorrupt, "token_embd.weight has {} rows", embedding->shape[1]);
  c.vocabulary = static_cast<int>(embedding->shape[1]);
  TRY(check_shape(c, prefix));
  return c;
}

Result<int> read_window(const gguf::Metadata& metadata, std::string_view prefix) {
  return read_count(metadata, fmt::format("{}.attention.sliding_window", prefix), kMostContext);
}

Result<std::vector<int64_t>> read_kv_heads(const gguf::Metadata& metadata, std::string_view prefix,
                                           const TransformerConfig& config) {
  const std::string key = fmt::format("{}.attention.head_count_kv", prefix);
  const gguf::Entry* entry = metadata.find(key);
  std::vector<int64_t> heads(static_cast<size_t>(config.layers), config.query_heads);
  if (entry != nullptr && entry->type == gguf::ValueType::kArray) {
    TRY_ASSIGN(heads, metadata.integers(key));
  } else if (entry != nullptr) {
    TRY_ASSIGN(const int one, read_count(metadata, key, kMostHeads));
    heads.assign(heads.size(), one);
  }
  if (heads.size() != static_cast<size_t>(config.layers))
    return fail(ErrorCode::kCorrupt, "{} has {} entries for {} layers", key, heads.size(), config.layers);
  for (const int64_t n : heads)
    if (n < 1 || n > config.query_heads || config.query_heads % n != 0)
      return fail(ErrorCode::kCorrupt, "{} ({}) does not divide the {} query heads", key, n,
                  config.query_heads);
  return heads;
}

Result<std::vector<int32_t>> read_rope_axes(const gguf::Metadata& metadata, std::string_view prefix,
                                            int frequencies) {
  const std::string key = fmt::format("{}.rope.dimension_sections", prefix);
  if (!metadata.has(key)) return std::vector<int32_t>{};
  TRY_ASSIGN(const std::vector<int64_t> sections, metadata.integers(key));
  if (sections.size() < 3)
    return fail(ErrorCode::kCorrupt, "{} has {} entries, expected at least 3", key, sections.size());
  std::vector<int32_t> axes;
  for (int i = 0; i < frequencies; ++i)
    axes.push_back(i % 3 != 0 && i < 3 * sections[static_cast<size_t>(i % 3)] ? i % 3 : 0);
  return axes;
}

}  // namespace tempo9::model
