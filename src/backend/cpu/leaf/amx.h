// AVX-512 with AMX: as leaf/avx512bf16.h, and a matrix unit for products of bytes and of bf16 (Intel's
// Software Developer's Manual, volume 1, chapter 18).
#pragma once
#include "backend/cpu/leaf/avx512bf16.h"

namespace tempo9::backend::cpu {

struct AmxLeaf : Avx512Bf16Leaf {
  struct alignas(64) TileShapes {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16];
    uint8_t rows[16];
  };
  static_assert(sizeof(TileShapes) == 64);

  // The compiler does not know that tile instructions read memory: what `p` points to must be there before.
  static void finish_stores(const void* p) { asm volatile("" : : "r"(p) : "memory"); }

  // Tile 0: sums, 16 rows of 16 int32. Tile 1: activations, 16 rows. Tile 2: weights, a line per quad.
  template <int N>
  class Tiles {
   public:
    Tiles() {
      const TileShapes shapes{.row_bytes = {64, 4 * N, 64}, .rows = {16, 16, N}};
      finish_stores(&shapes);
      _tile_loadconfig(&shapes);
    }
    ~Tiles() { _tile_release(); }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;

    void multiply(const uint8_t* lines, const std::byte* levels, size_t stride, int32_t* sums) const {
      finish_stores(lines);
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

  // Tiles 0 to 3: sums, of rows 0 to 15 and from 16 on, each by two panels. 4 and 5: one part of these rows'
  // activations. 6 and 7: weights of the panels, a line per pair of columns.
  class BfloatTiles {
   public:
    explicit BfloatTiles(int rows) : second_(rows > 16) {
      const auto a = static_cast<uint8_t>(second_ ? 16 : rows),
                 b = static_cast<uint8_t>(second_ ? rows - 16 : a);
      const TileShapes shapes{.row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                              .rows = {a, a, b, b, a, b, 16, 16}};
      finish_stores(&shapes);
      _tile_loadconfig(&shapes);
    }
    ~BfloatTiles() { _tile_release(); }
    BfloatTiles(const BfloatTiles&) = delete;
    BfloatTiles& operator=(const BfloatTiles&) = delete;

    void zero() const {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
    template <int Panels>
    void multiply(const uint8_t* lines, const std::byte* parts, size_t stride) const {
      finish_stores(lines);
      _tile_loadd(6, lines, 64);
      if constexpr (Panels == 2) _tile_loadd(7, lines + 16 * 64, 64);
      for (int part = 0; part < 3; ++part, parts += 64) {
        _tile_loadd(4, parts, stride);
        _tile_dpbf16ps(0, 4, 6);
        if constexpr (Panels == 2) _tile_dpbf16ps(1, 4, 7);
        if (!second_) continue;
        _tile_loadd(5, parts + 16 * stride, stride);
        _tile_dpbf16ps(2, 5, 6);
        if constexpr (Panels == 2) _tile_dpbf16ps(3, 5, 7);
      }
    }
    void store(float* sums) const {
      _tile_stored(0, sums, 64);
      _tile_stored(1, sums + 256, 64);
      _tile_stored(2, sums + 512, 64);
      _tile_stored(3, sums + 768, 64);
    }

   private:
    bool second_;  // whether there are more than 16 rows
  };

  static void store_pairs(uint8_t* line, const uint8_t* columns) {
    const Ints order = _mm512_add_epi16(
        _mm512_set1_epi32(0x00100000),
        _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                           _mm512_set1_epi32(0x00010001)));
    _mm512_store_si512(line, _mm512_permutexvar_epi16(order, _mm512_loadu_si512(columns)));
  }
  static Floats upper_half(Floats x) {
    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(static_cast<int32_t>(0xffff0000))));
  }
  static void store_upper_half(uint16_t* p, Floats x) {
    const Ints upper = _mm512_srli_epi32(_mm512_castps_si512(x), 16);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(upper));
  }
};

}  // namespace tempo9::backend::cpu
