#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/reference/reference_kernels.h"
#include "base/limits.h"
#include "quant/half.h"

namespace tempo9::backend::reference {
namespace {

constexpr int kBlock = 32;  // elements that share a scale in a q8_0 store

// Of `heads` keys or values of one token.
size_t stored_bytes(KvType type, int heads, int size) {
  int bytes = size * (type == KvType::kF32 ? 4 : 2);
  if (type == KvType::kQ8_0) bytes = size + 2 * ((size + kBlock - 1) / kBlock);
  return static_cast<size_t>(heads) * static_cast<size_t>(bytes);
}

size_t token_bytes(const KvShape& shape) {
  return stored_bytes(shape.type, shape.heads, shape.key_size) +
         stored_bytes(shape.type, shape.heads, shape.value_size);
}

// Where a token's keys (all heads) begin; its values (all heads) follow.
std::byte* token_pointer(const KvLayer& kv, const int32_t* pages, int position) {
  const int in_page = position % limits::kPageTokens;
  return page_pointer(kv, pages[position / limits::kPageTokens]) +
         static_cast<size_t>(in_page) * token_bytes(kv.shape);
}

// The scale of a block, as ops.h defines it.
uint16_t block_scale(const float* values, int n) {
  float largest = 0;
  for (int i = 0; i < n; ++i) {
    if (!(std::abs(values[i]) <= 127.0f * 65504.0f)) return quant::float_to_half(NAN);
    largest = std::max(largest, std::abs(values[i]));
  }
  const uint16_t nearest = quant::float_to_half(largest * (1.0f / 127.0f));
  return quant::half_to_float(nearest) * 127.0f < largest ? static_cast<uint16_t>(nearest + 1) : nearest;
}

// A block is its scale, then its levels.
std::byte* store_block(std::byte* target, const float* values, int n) {
  const uint16_t bits = block_scale(values, n);
  std::memcpy(target, &bits, 2);
  const float scale = quant::half_to_float(bits);
  for (int i = 0; i < n; ++i) {
    const float level = scale > 0 ? std::nearbyint(values[i] * (1.0f / scale)) : 0;
    target[2 + i] = static_cast<std::byte>(static_cast<int8_t>(level));
  }
  return target + 2 + n;
}

const std::byte* load_block(const std::byte* source, float* values, int n) {
  uint16_t bits;
  std::memcpy(&bits, source, 2);
  for (int i = 0; i < n; ++i)
    values[i] = static_cast<float>(static_cast<int8_t>(source[2 + i])) * quant::half_to_float(bits);
  return source + 2 + n;
}

void store(KvType type, std::byte* target, const float* values, int heads, int size) {
  if (type == KvType::kQ8_0) {
    for (int h = 0; h < heads; ++h, values += size)
      for (int d = 0; d < size; d += kBlock)
        target = store_block(target, values + d, std::min(kBlock, size - d));
    return;
  }
  for (int i = 0; i < heads * size; ++i) {
    if (type == KvType::kF32) {
      std::memcpy(target + 4 * i, values + i, 4);
    } else {
      const uint16_t bits =
          type == KvType::kF16 ? quant::float_to_half(values[i]) : quant::float_to_bfloat(values[i]);
      std::memcpy(target + 2 * i, &bits, 2);
    }
  }
}

void load(KvType type, const std::byte* source, float* values, int heads, int size) {
  if (type == KvType::kQ8_0) {
    for (int h = 0; h < heads; ++h, values += size)
      for (int d = 0; d < size; d += kBlock)
        source = load_block(source, values + d, std::min(kBlock, size - d));
    return;
  }
  for (int i = 0; i < heads * size; ++i) {
    if (type == KvType::kF32) {
      std::memcpy(values + i, source + 4 * i, 4);
    } else {
      uint16_t bits;
      std::memcpy(&bits, source + 2 * i, 2);
      values[i] = type == KvType::kF16 ? quant::half_to_float(bits) : quant::bfloat_to_float(bits);
    }
  }
}

// Keys and values [tokens][heads * size] of positions first..last of one sequence, decoded.
struct Decoded {
  std::vector<float> keys, values;
};
Decoded decode(const KvLayer& kv, const int32_t* pages, int first, int last) {
  const KvShape& shape = kv.shape;
  const int key_values = shape.heads * shape.key_size, value_values = shape.heads * shape.value_size;
  const auto tokens = static_cast<size_t>(last - first + 1);
  Decoded out{std::vector<float>(tokens * static_cast<size_t>(key_values)),
              std::vector<float>(tokens * static_cast<size_t>(value_values))};
  for (int p = first; p <= last; ++p) {
    const std::byte* token = token_pointer(kv, pages, p);
    const auto index = static_cast<size_t>(p - first);
    load(shape.type, token, out.keys.data() + index * static_cast<size_t>(key_values), shape.heads,
         shape.key_size);
    load(shape.type, token + stored_bytes(shape.type, shape.heads, shape.key_size),
         out.values.data() + index * static_cast<size_t>(value_values), shape.heads, shape.value_size);
  }
  return out;
}

// One query head of one row over tokens first..last; `decoded` begins at position `base`.
void attend(const Attention& op, const Decoded& decoded, int base, int first, int last, int head,
            const float* query, float* out) {
  const KvShape& shape = op.kv.shape;
  const int kv_head = head / (op.query_heads / shape.heads);
  std::vector<float> weights(static_cast<size_t>(last - first + 1));
  float largest = -INFINITY, total = 0;
  for (int p = first; p <= last; ++p) {
    const float* key =
        decoded.keys.data() +
        (static_cast<size_t>(p - base) * static_cast<size_t>(shape.heads) + static_cast<size_t>(kv_head)) *
            static_cast<size_t>(shape.key_size);
    const float score = op.scale * dot(query, key, shape.key_size);
    weights[static_cast<size_t>(p - first)] = score;
    largest = std::max(largest, score);
  }
  if (op.sinks) {
    const float sink = row_pointer(op.sinks, 0)[head];
    largest = std::max(largest, sink);
    total = std::exp(sink - largest);
  }
  for (float& w : weights) total += w = std::exp(w - largest);
  for (int i = 0; i < shape.value_size; ++i) out[i] = 0;
  for (int p = first; p <= last; ++p) {
    const float* value =
        decoded.values.data() +
        (static_cast<size_t>(p - base) * static_cast<size_t>(shape.heads) + static_cast<size_t>(kv_head)) *
            static_cast<size_t>(shape.value_size);
    const float w = weights[static_cast<size_t>(p - first)] / total;
    for (int i = 0; i < shape.value_size; ++i) out[i] += w * value[i];
  }
}

}  // namespace

size_t kv_layer_bytes(const KvShape& shape) {
  const size_t bytes = static_cast<size_t>(limits::kPageTokens) * token_bytes(shape);
  return (bytes + 63) / 64 * 64;
}

void run(const KvWrite& op) {
  const KvShape& shape = op.kv.shape;
  for (int s = 0; s < op.segments.count; ++s) {
    const SegmentRow& seg = segment(op.segments, s);
    const int32_t* pages = row_pointer<int32_t>(op.page_table, 0) + seg.first_page;
    for (int r = 0; r < seg.rows; ++r) {
      std::byte* token = token_pointer(op.kv, pages, seg.first_position + r);
      store(shape.type, token, row_pointer(op.keys, seg.first_row + r), shape.heads, shape.key_size);
      store(shape.type, token + stored_bytes(shape.type, shape.heads, shape.key_size),
            row_pointer(op.values, seg.first_row + r), shape.heads, shape.value_size);
    }
  }
}

void run(const Attention& op) {
  for (int s = 0; s < op.segments.count; ++s) {
    const SegmentRow& seg = segment(op.segments, s);
    const int32_t* pages = row_pointer<int32_t>(op.page_table, 0) + seg.first_page;
    const int base = op.window == 0 ? 0 : std::max(0, seg.first_position - op.window + 1);
    const Decoded decoded = decode(op.kv, pages, base, seg.first_position + seg.rows - 1);
    for (int r = 0; r < seg.rows; ++r) {
      const int last = seg.first_position + r, first = op.window == 0 ? 0 : std::max(0, last - op.window + 1);
      for (int h = 0; h < op.query_heads; ++h)
        attend(op, decoded, base, first, last, h,
               row_pointer(op.queries, seg.first_row + r) + h * op.kv.shape.key_size,
               row_pointer(op.out, seg.first_row + r) + h * op.kv.shape.value_size);
    }
  }
}

}  // namespace tempo9::backend::reference
