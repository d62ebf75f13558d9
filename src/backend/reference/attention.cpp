#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/reference/reference_kernels.h"
#include "base/limits.h"
#include "quant/half.h"

namespace tempo9::backend::reference {
namespace {

size_t element_bytes(KvType type) {
  return type == KvType::kF32 ? 4 : 2;
}

int token_values(const KvShape& shape) {
  return shape.heads * (shape.key_size + shape.value_size);
}

// Where a token's keys (all heads) begin; its values (all heads) follow.
std::byte* token_pointer(const KvLayer& kv, const int32_t* pages, int position) {
  const int in_page = position % limits::kPageTokens;
  return page_pointer(kv, pages[position / limits::kPageTokens]) +
         static_cast<size_t>(in_page) * static_cast<size_t>(token_values(kv.shape)) *
             element_bytes(kv.shape.type);
}

void store(KvType type, std::byte* target, const float* values, int n) {
  for (int i = 0; i < n; ++i) {
    if (type == KvType::kF32) {
      std::memcpy(target + 4 * i, values + i, 4);
    } else {
      const uint16_t bits =
          type == KvType::kF16 ? quant::float_to_half(values[i]) : quant::float_to_bfloat(values[i]);
      std::memcpy(target + 2 * i, &bits, 2);
    }
  }
}

void load(KvType type, const std::byte* source, float* values, int n) {
  for (int i = 0; i < n; ++i) {
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
  const int key_values = kv.shape.heads * kv.shape.key_size,
            value_values = kv.shape.heads * kv.shape.value_size;
  const auto tokens = static_cast<size_t>(last - first + 1);
  Decoded out{std::vector<float>(tokens * static_cast<size_t>(key_values)),
              std::vector<float>(tokens * static_cast<size_t>(value_values))};
  for (int p = first; p <= last; ++p) {
    const std::byte* token = token_pointer(kv, pages, p);
    const auto index = static_cast<size_t>(p - first);
    load(kv.shape.type, token, out.keys.data() + index * static_cast<size_t>(key_values), key_values);
    load(kv.shape.type, token + static_cast<size_t>(key_values) * element_bytes(kv.shape.type),
         out.values.data() + index * static_cast<size_t>(value_values), value_values);
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
  const size_t bytes = static_cast<size_t>(limits::kPageTokens) * static_cast<size_t>(token_values(shape)) *
                       element_bytes(shape.type);
  return (bytes + 63) / 64 * 64;
}

void run(const KvWrite& op) {
  const KvShape& shape = op.kv.shape;
  const int key_values = shape.heads * shape.key_size;
  for (int s = 0; s < op.segments.count; ++s) {
    const SegmentRow& seg = segment(op.segments, s);
    const int32_t* pages = row_pointer<int32_t>(op.page_table, 0) + seg.first_page;
    for (int r = 0; r < seg.rows; ++r) {
      std::byte* token = token_pointer(op.kv, pages, seg.first_position + r);
      store(shape.type, token, row_pointer(op.keys, seg.first_row + r), key_values);
      store(shape.type, token + static_cast<size_t>(key_values) * element_bytes(shape.type),
            row_pointer(op.values, seg.first_row + r), shape.heads * shape.value_size);
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
