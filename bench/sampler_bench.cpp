// Tokens per second of one sampler on one thread, by filter and vocabulary (SmolLM2's and Gemma's sizes).
// Rows are normal with deviation 3, so the most probable of 49152 tokens has about 9%; `flat` rows have
// deviation 0.1 and make a nucleus of nearly the whole vocabulary, the worst case.
//   ninja -C build/release sampler_bench && build/release/bench/sampler_bench
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "sample/random.h"
#include "sample/sampler.h"

namespace {

using tempo9::sample::Sampler;
using tempo9::sample::SamplingOptions;
using tempo9::sample::uniform_at;
using Clock = std::chrono::steady_clock;

std::vector<float> normal_row(size_t size, double deviation) {
  std::vector<float> row(size);
  for (size_t i = 0; i < size; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - uniform_at(1, 2 * i)));
    row[i] = static_cast<float>(deviation * radius * std::cos(6.283185307179586 * uniform_at(1, 2 * i + 1)));
  }
  return row;
}

// The quickest of many repetitions of some milliseconds: the one that was disturbed least.
double seconds_per_token(const SamplingOptions& options, std::vector<float> logits) {
  constexpr int kRepetitions = 50, kTokens = 5;
  Sampler sampler(options, {});
  uint64_t position = 0;
  double quickest = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const Clock::time_point start = Clock::now();
    // No option used here changes the logits, so the row serves again.
    for (int token = 0; token < kTokens; ++token) sampler.choose(logits, position++);
    quickest = std::min(quickest, std::chrono::duration<double>(Clock::now() - start).count() / kTokens);
  }
  return quickest;
}

void report(const char* name, const SamplingOptions& options, double deviation = 3) {
  for (const size_t size : {49152, 262144}) {
    const double seconds = seconds_per_token(options, normal_row(size, deviation));
    fmt::print("{:20} {:8} {:10.0f} us {:10.0f} tokens/s\n", name, size, seconds * 1e6, 1 / seconds);
  }
}

}  // namespace

int main() {
  SamplingOptions greedy, temperature, top_k, top_p, min_p, logprobs;
  greedy.temperature = 0;
  temperature.temperature = 0.8f;
  top_k.top_k = 40;
  top_p.top_p = 0.95f;
  min_p.min_p = 0.05f;
  logprobs.temperature = 0;
  logprobs.top_logprobs = 20;
  report("greedy", greedy);
  report("temperature 0.8", temperature);
  report("top-k 40", top_k);
  report("top-p 0.95", top_p);
  report("top-p 0.95, flat", top_p, 0.1);
  report("min-p 0.05", min_p);
  report("greedy, 20 logprobs", logprobs);
}
