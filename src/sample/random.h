// Philox4x32-10, a counter-based generator: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3" (SC 2011). A pure function of counter and key without state, so a number is found by its place
// and not by how many came before. Integer arithmetic only: equal on every machine.
#pragma once
#include <array>
#include <cstdint>

namespace tempo9::sample {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  constexpr int kRounds = 10;
  constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kGoldenRatio = 0x9E3779B9, kRootOfThreeMinusOne = 0xBB67AE85;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = kMultiplier0 * counter[0], b = kMultiplier1 * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += kGoldenRatio;
    key[1] += kRootOfThreeMinusOne;
  }
  return counter;
}

// The number in [0, 1), a multiple of 2^-53, that belongs to a position of a seed's sequence.
constexpr double uniform_at(uint64_t seed, uint64_t position) {
  const PhiloxCounter words =
      philox4x32({static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), 0, 0},
                 {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  const uint64_t bits = words[0] | uint64_t{words[1]} << 32;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace tempo9::sample
