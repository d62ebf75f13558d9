#include "quant/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "quant/bf16.h"
#include "quant/f16.h"
#include "quant/f32.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/mxfp4.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"

namespace tempo9::quant {
namespace {

template <class Block>
void decode_block(const uint8_t* block, float* out) {
  decode(*reinterpret_cast<const Block*>(block), out);
}

template <class Block>
void encode_block(const float* in, uint8_t* block) {
  encode(in, *reinterpret_cast<Block*>(block));
}

template <class Block>
void decode_all(const uint8_t* blocks, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i)
    decode_block<Block>(blocks + i * sizeof(Block), out + i * Block::kColumns);
}

template <class Block>
constexpr FormatInfo entry(Format format, const char* name) {
  static_assert(alignof(Block) == 1, "a block may lie at any address of a file");
  return {format,
          name,
          Block::kColumns,
          static_cast<int>(sizeof(Block)),
          decode_block<Block>,
          encode_block<Block>,
          decode_all<Block>};
}

constexpr FormatInfo kFormats[] = {
    entry<BlockF32>(Format::kF32, "F32"),          entry<BlockF16>(Format::kF16, "F16"),
    entry<BlockQ4_0>(Format::kQ4_0, "Q4_0"),       entry<BlockQ4_1>(Format::kQ4_1, "Q4_1"),
    entry<BlockQ5_0>(Format::kQ5_0, "Q5_0"),       entry<BlockQ5_1>(Format::kQ5_1, "Q5_1"),
    entry<BlockQ8_0>(Format::kQ8_0, "Q8_0"),       entry<BlockQ2_K>(Format::kQ2_K, "Q2_K"),
    entry<BlockQ3_K>(Format::kQ3_K, "Q3_K"),       entry<BlockQ4_K>(Format::kQ4_K, "Q4_K"),
    entry<BlockQ5_K>(Format::kQ5_K, "Q5_K"),       entry<BlockQ6_K>(Format::kQ6_K, "Q6_K"),
    entry<BlockIQ4_NL>(Format::kIQ4_NL, "IQ4_NL"), entry<BlockIQ4_XS>(Format::kIQ4_XS, "IQ4_XS"),
    entry<BlockBF16>(Format::kBF16, "BF16"),       entry<BlockMXFP4>(Format::kMXFP4, "MXFP4"),
};

// Sizes of the types that we list but do not compute with, from the GGUF specification's type enumeration and
// the block definitions it refers to.
constexpr TypeInfo kOtherTypes[] = {
    {4, "Q4_2", 32, 0},       {5, "Q4_3", 32, 0},        {9, "Q8_1", 32, 36},       {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},   {18, "IQ3_XXS", 256, 98},  {19, "IQ1_S", 256, 50},
    {21, "IQ3_S", 256, 110},  {22, "IQ2_S", 256, 82},    {24, "I8", 1, 1},          {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},         {28, "F64", 1, 8},         {29, "IQ1_M", 256, 56},
    {31, "Q4_0_4_4", 32, 0},  {32, "Q4_0_4_8", 32, 0},   {33, "Q4_0_8_8", 32, 0},   {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},   {36, "IQ4_NL_4_4", 32, 0}, {37, "IQ4_NL_4_8", 32, 0}, {38, "IQ4_NL_8_8", 32, 0},
    {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18},     {42, "Q2_0", 64, 18},
};

}  // namespace

std::span<const FormatInfo> formats() {
  return kFormats;
}

const FormatInfo* find_format(uint32_t gguf_type) {
  const auto* found = std::ranges::find(kFormats, static_cast<Format>(gguf_type), &FormatInfo::format);
  return found == std::end(kFormats) ? nullptr : found;
}

const FormatInfo& format_info(Format format) {
  const FormatInfo* info = find_format(static_cast<uint32_t>(format));
  CHECK(info != nullptr);
  return *info;
}

std::optional<TypeInfo> find_type(uint32_t gguf_type) {
  if (const FormatInfo* format = find_format(gguf_type))
    return TypeInfo{gguf_type, format->name, format->block_columns, format->block_bytes};
  const auto* found = std::ranges::find(kOtherTypes, gguf_type, &TypeInfo::id);
  if (found == std::end(kOtherTypes)) return std::nullopt;
  return *found;
}

std::string type_name(uint32_t gguf_type) {
  const auto type = find_type(gguf_type);
  return type ? type->name : fmt::format("type {}", gguf_type);
}

void decode_row(Format format, const uint8_t* row, size_t columns, float* out) {
  const FormatInfo& info = format_info(format);
  const auto block_columns = static_cast<size_t>(info.block_columns);
  CHECK(columns % block_columns == 0);
  info.decode_blocks(row, columns / block_columns, out);
}

void encode_row(Format format, const float* in, size_t columns, uint8_t* row) {
  const FormatInfo& info = format_info(format);
  const auto block_columns = static_cast<size_t>(info.block_columns);
  CHECK(columns % block_columns == 0);
  for (size_t i = 0; i < columns / block_columns; ++i)
    info.encode(in + i * block_columns, row + i * static_cast<size_t>(info.block_bytes));
}

}  // namespace tempo9::quant
