// From one row of logits to one token. The draw comes from a counter-based generator keyed by (seed,
// position), so a token's draw depends neither on the batch nor on earlier draws. Order: logit bias,
// repetition / presence / frequency penalties, then greedy if temperature is 0, else temperature, top-k,
// top-p, min-p, draw.
//
// Rules that hold throughout:
//   - Equal logits: the lower id comes first. Greedy takes it; top-k and top-p cut behind it.
//   - NaN counts as -infinity; a token at -infinity is never chosen while another is not. If all are, token 0
//     is chosen. Tokens at +infinity share all the probability equally.
//   - top-p keeps the smallest set that reaches p of what top-k left; min-p is relative to the most probable
//     token. At least one token always stays.
//   - A token that `allowed` leaves out counts as -infinity; if all that it allows are, the first of them is
//   chosen.
//   - Equal logits, options, seed and position give the same token on every machine: the arithmetic between
//     them is integers and IEEE doubles in a fixed order. Log-probabilities go through the library's log()
//     and may differ in their last bit.
//
// Costs O(vocabulary) without a sort, and allocates nothing once its scratch has grown, but for Choice::top.
// Threads: one Sampler per request, used by one thread at a time.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "sample/candidates.h"
#include "sample/softmax.h"

namespace tempo9::sample {

// One bit for each token, 32 a word, the lowest first: set where the token may be chosen. Empty: every token
// may.
using TokenMask = std::span<const uint32_t>;

struct SamplingOptions {
  float temperature = 1.0f;  // 0: greedy. At least 0
  int top_k = 0;             // 0: off
  float top_p = 1.0f;        // (0, 1]; 1: off
  float min_p = 0.0f;        // [0, 1]; 0: off. Relative to the most probable token
  float repetition_penalty =
      1.0f;  // > 0; 1: off. Divides positive and multiplies negative logits of tokens in prompt or reply
  float presence_penalty = 0.0f;                      // [-2, 2]; subtracted once from tokens of the reply
  float frequency_penalty = 0.0f;                     // [-2, 2]; subtracted per occurrence in the reply
  std::vector<std::pair<TokenId, float>> logit_bias;  // [-100, 100] each; entries for one token add up
  uint64_t seed = 0;
  int top_logprobs = -1;  // -1: none wanted; 0: the chosen token's only; n: also of the n most probable
};

// Names the field that is out of range, as `temperature`, `top_p`, …
Status check(const SamplingOptions& options, int vocabulary_size);

struct TokenLogprob {
  TokenId token;
  float logprob;  // natural logarithm, of the model's own distribution (before bias, penalties and
                  // temperature); -infinity for a token that has no probability in it
};

struct Choice {
  TokenId token;
  float logprob;                  // as above; 0 unless options.top_logprobs >= 0
  std::vector<TokenLogprob> top;  // most probable first; ties by lower id; none that is at -infinity
};

class Sampler {
 public:
  // `options` have passed check(). `prompt` counts for the repetition penalty only.
  Sampler(SamplingOptions options, std::span<const TokenId> prompt);

  // Chooses from `logits` (vocabulary_size values, at least 1; changed in place). `position`: of the token
  // being chosen in the whole sequence. `allowed`, if not empty, has a bit for every logit and at least one
  // set. Log-probabilities are those of all tokens.
  Choice choose(std::span<float> logits, uint64_t position, TokenMask allowed = {});
  // Tells that `token` has become part of the reply.
  void accept(TokenId token);

 private:
  struct SeenToken {
    TokenId id;
    int reply_count;  // 0: in the prompt only
  };
  struct Original {
    TokenId id;
    float logit;
  };

  void rank_top(std::span<const float> logits, Choice& choice);
  void adjust(std::span<float> logits);
  TokenId pick(std::span<const float> logits, uint64_t position);
  TokenId pick_filtered(std::span<const float> logits, const RelativeProbability& probability, double draw);
  void gather_nucleus(std::span<const float> logits, const RelativeProbability& probability, double sum);
  void weigh_candidates(const RelativeProbability& probability);

  SamplingOptions options_;
  bool penalises_;
  std::vector<SeenToken> seen_;      // ascending by id; kept only if a penalty is on
  std::vector<Original> originals_;  // logits that adjust() changed, first change first; kept for logprobs
  // Scratch.
  RowSums row_sums_;
  std::vector<Candidate> candidates_;
  std::vector<double> weights_;
};

}  // namespace tempo9::sample
