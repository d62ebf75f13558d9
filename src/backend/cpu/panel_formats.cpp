#include "backend/cpu/panel_formats.h"

#include <array>

#include "backend/cpu/format/list.h"
#include "backend/cpu/leaf/scalar.h"
#include "base/check.h"

namespace tempo9::backend::cpu {
namespace {

template <class Format>
void repack_panel(const uint8_t* const* rows, int blocks, uint8_t* panel) {
  using Block = typename Format::Block;
  for (int b = 0; b < blocks; ++b, panel += Format::kUnitBytes) {
    const Block* sources[kPanelRows];
    for (int r = 0; r < kPanelRows; ++r) sources[r] = reinterpret_cast<const Block*>(rows[r]) + b;
    Format::repack(sources, panel);
  }
}

template <class Format>
void decode_block(const uint8_t* unit, int block, int row, float* out) {
  DecodedBlock<ScalarLeaf> weights{};
  Format::template decode<ScalarLeaf>(unit, block, row, weights);
  for (int k = 0; k < kBlockColumns; ++k) {
    const int half = Format::kScales == 2 ? k / 16 : 0;
    const int level = static_cast<int>(weights.quads[k / 4] >> (8 * (k % 4)) & 255);
    out[k] = weights.scale[half] * static_cast<float>(level - Format::kOffset);
    if constexpr (Format::kMinima == 1) out[k] += weights.minimum[0];
    if constexpr (Format::kMinima == 2) out[k] += weights.minimum[half] * -128.0f;
  }
}

template <class Format>
void decode_row(const uint8_t* panel, int row, int blocks, float* out) {
  for (int b = 0; b < blocks; ++b, panel += Format::kUnitBytes) {
    if constexpr (kIsFloats<Format>) {
      *out++ = Format::template load<ScalarLeaf>(panel, row);
    } else {
      for (int i = 0; i < Format::Block::kColumns / kBlockColumns; ++i, out += kBlockColumns)
        decode_block<Format>(panel, i, row, out);
    }
  }
}

template <class Format>
constexpr PanelFormat entry() {
  return {
      .format = Format::kFormat,
      .block_columns = Format::Block::kColumns,
      .block_bytes = sizeof(typename Format::Block),
      .unit_bytes = Format::kUnitBytes,
      .repack = repack_panel<Format>,
      .decode_row = decode_row<Format>,
  };
}

template <class... Formats>
constexpr std::array<PanelFormat, sizeof...(Formats)> entries(FormatList<Formats...>) {
  return {entry<Formats>()...};
}

constexpr auto kPanelFormats = entries(AllFormats());

}  // namespace

int format_index(quant::Format format) {
  for (size_t i = 0; i < kPanelFormats.size(); ++i)
    if (kPanelFormats[i].format == format) return static_cast<int>(i);
  CHECK(!"every format of the table has panels");
  return 0;
}

const PanelFormat& panel_format(int index) {
  return kPanelFormats[static_cast<size_t>(index)];
}

}  // namespace tempo9::backend::cpu
