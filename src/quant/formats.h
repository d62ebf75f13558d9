// The list of tensor formats. One header per format (quant/<name>.h) holds its block layout, decode and
// encode; this is their table. Only formats in the table can be computed with. Every other type id that GGUF
// knows has a name and a size here, so that a file can be listed and a refusal can name what it refuses.
// Threads: everything here is constant.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tempo9::quant {

// The values are GGUF's tensor type ids: frozen.
enum class Format : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIQ4_NL = 20,
  kIQ4_XS = 23,
  kBF16 = 30,
  kMXFP4 = 39,
};

struct FormatInfo {
  Format format;
  const char* name;   // as GGUF tools spell it, e.g. "Q4_K"
  int block_columns;  // elements of one block, all from the same row
  int block_bytes;
  void (*decode)(const uint8_t* block, float* out);  // block_columns values
  // Nearest by a simple rule; for tests and small tools, not a quantiser's quality.
  void (*encode)(const float* in, uint8_t* block);
  // Whole blocks of one row, without a call per block.
  void (*decode_blocks)(const uint8_t* blocks, size_t count, float* out);

  size_t row_bytes(size_t columns) const {
    return columns / static_cast<size_t>(block_columns) * static_cast<size_t>(block_bytes);
  }
};

// A tensor type that GGUF defines, supported or not.
struct TypeInfo {
  uint32_t id;
  const char* name;
  int block_columns;
  int block_bytes;  // 0: GGUF once defined the type and has withdrawn it
};

// All supported formats, in the order of their ids.
std::span<const FormatInfo> formats();
// Null if `gguf_type` is not in the table.
const FormatInfo* find_format(uint32_t gguf_type);
// The table's entry of a supported format.
const FormatInfo& format_info(Format format);
// Empty if GGUF has never defined the id.
std::optional<TypeInfo> find_type(uint32_t gguf_type);
// The name of any type id, e.g. "IQ2_XXS"; "type 77" for an id that GGUF does not define.
std::string type_name(uint32_t gguf_type);

// Decodes or encodes `columns` values (a multiple of the block) of one row.
void decode_row(Format format, const uint8_t* row, size_t columns, float* out);
void encode_row(Format format, const float* in, size_t columns, uint8_t* row);

}  // namespace tempo9::quant
