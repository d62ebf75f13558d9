// The matrix unit's way through a linear operation, on a model of the unit in plain C++: what surrounds the
// instructions is tested where no machine has them. The instructions themselves are compared with the scalar
// leaf by the other tests, on machines that have them.
#include "backend/cpu/cpu_test_machine.h"
#include "backend/cpu/leaf/scalar.h"
#include "backend/cpu/linear_tiles.h"
#include "backend/cpu/panel_formats.h"

namespace tempo9::backend::cpu {
namespace {

struct ModelledUnitLeaf : ScalarLeaf {
  template <int N>
  struct Tiles {
    void multiply(const uint8_t* lines, const std::byte* levels, size_t stride, int32_t* sums) const {
      for (int r = 0; r < kTileUnitRows; ++r)
        for (int n = 0; n < kPanelRows; ++n) {
          int32_t sum = 0;
          for (int k = 0; k < 4 * N; ++k)
            sum += lines[kLineBytes * (k / 4) + 4 * n + k % 4] *
                   static_cast<int8_t>(levels[static_cast<size_t>(r) * stride + static_cast<size_t>(k)]);
          sums[kPanelRows * r + n] = sum;
        }
    }
  };
  static void store_quads(uint8_t* p, Quads x) { std::memcpy(p, &x, sizeof x); }
  static Ints load_ints(const int32_t* p) { return *p; }
  static Ints add_to_all(Ints x, int32_t y) { return x + y; }
};
static_assert(kHasTiles<ModelledUnitLeaf> && !kHasTiles<ScalarLeaf>);

// A matrix in panels with activations beside it.
template <class Format>
class Operands {
 public:
  static constexpr int kBlock = Format::Block::kColumns;
  static constexpr int kColumns = kBlock == 256 ? 512 : 96, kBlocks = kColumns / kBlock;

  Operands(int rows, int outputs) : rows_(rows), outputs_(outputs) {
    std::mt19937 random(3);
    const auto padded = static_cast<size_t>(panels() * kPanelRows);
    const std::vector<uint8_t> weight =
        encode(Format::kFormat, normal_values(random, padded * static_cast<size_t>(kColumns)));
    const size_t row_bytes = weight.size() / padded;
    const PanelFormat& format = panel_format(format_index(Format::kFormat));
    const size_t panel_bytes = kBlocks * format.unit_bytes;
    panels_.resize(static_cast<size_t>(panels()) * panel_bytes);
    for (int p = 0; p < panels(); ++p) {
      const uint8_t* file_rows[kPanelRows];
      for (int r = 0; r < kPanelRows; ++r)
        file_rows[r] = weight.data() + static_cast<size_t>(kPanelRows * p + r) * row_bytes;
      format.repack(file_rows, kBlocks, panels_.data() + static_cast<size_t>(p) * panel_bytes);
    }
    input_.resize(static_cast<size_t>(rows) * kStride);
    for (int r = 0; r < rows; ++r)
      quantise_row<ScalarLeaf>(
          normal_values(random, kColumns).data(), kColumns,
          reinterpret_cast<ActivationBlock*>(input_.data() + static_cast<size_t>(r) * kStride));
    start_ = normal_values(random, static_cast<size_t>(rows * outputs));
    bias_ = normal_values(random, static_cast<size_t>(outputs));
  }

  int panels() const { return (outputs_ + kPanelRows - 1) / kPanelRows; }

  Values run(void (*linear)(const LinearTask&), int first_panel, bool add) const {
    Values out = start_;
    linear({.panels = panels_.data(),
            .columns = kColumns,
            .outputs = outputs_,
            .first_panel = first_panel,
            .last_panel = panels(),
            .input = input_.data(),
            .input_stride = kStride,
            .rows = rows_,
            .out = out.data(),
            .out_stride = static_cast<size_t>(outputs_),
            .bias = add ? nullptr : bias_.data(),
            .add = add});
    return out;
  }

 private:
  static constexpr size_t kStride = activation_stride(kColumns);
  int rows_, outputs_;
  std::vector<uint8_t> panels_;
  std::vector<std::byte> input_;
  Values start_, bias_;
};

template <class Format>
void expect_equal_bits() {
  if constexpr (!kIsFloats<Format>) {
    for (const int rows : {1, 15, 16, 17, 35})
      for (const int outputs : {7, 16, 48, 50}) {
        const Operands<Format> operands(rows, outputs);
        for (const bool add : {false, true})
          for (const int first_panel : {0, operands.panels() - 1})
            EXPECT_TRUE(same_bits(operands.run(linear_by_tiles<Format, ModelledUnitLeaf>, first_panel, add),
                                  operands.run(linear<Format, ScalarLeaf>, first_panel, add)))
                << quant::format_info(Format::kFormat).name << ", " << rows << " rows, " << outputs
                << " outputs";
      }
  }
}

template <class... Formats>
void expect_equal_bits_of_all(FormatList<Formats...>) {
  (expect_equal_bits<Formats>(), ...);
}

TEST(LinearByTiles, HasTheBitsOfTheScalarLeaf) {
  expect_equal_bits_of_all(AllFormats());
}

}  // namespace
}  // namespace tempo9::backend::cpu
