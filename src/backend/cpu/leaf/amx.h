// AVX-512 with AMX: as leaf/avx512bf16.h, and a matrix unit for byte products (Intel's Software Developer's
// Manual, volume 1, chapter 18).
#pragma once
#include "backend/cpu/leaf/avx512bf16.h"

namespace tempo9::backend::cpu {

struct AmxLeaf : Avx512Bf16Leaf {
  // Tile 0: sums, 16 rows of 16 int32. Tile 1: activations, 16 rows. Tile 2: weights, a line per quad.
  template <int N>
  class Tiles {
   public:
    Tiles() {
      struct alignas(64) {
        uint8_t palette = 1, start_row = 0, reserved[14] = {};
        uint16_t row_bytes[16] = {64, 4 * N, 64};
        uint8_t rows[16] = {16, 16, N};
      } const shapes;
      static_assert(sizeof shapes == 64);
      _tile_loadconfig(&shapes);
    }
    ~Tiles() { _tile_release(); }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;

    void multiply(const uint8_t* lines, const std::byte* levels, size_t stride, int32_t* sums) const {
      _tile_zero(0);
      _tile_loadd(1, levels, stride);
      _tile_loadd(2, lines, 64);
      _tile_dpbsud(0, 1, 2);
      _tile_stored(0, sums, 64);
    }
  };

  static void store_quads(uint8_t* p, Quads x) { _mm512_store_si512(p, x); }
  static Ints load_ints(const int32_t* p) { return _mm512_load_si512(p); }
  static Ints add_to_all(Ints x, int32_t y) { return _mm512_add_epi32(x, _mm512_set1_epi32(y)); }
};

}  // namespace tempo9::backend::cpu
