// What one step computes, as plain data: which pages are copied first, which tokens of which sequences
// follow, which rows must give logits, and after which rows a state is saved.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"
#include "kv/kv_cache.h"

namespace tempo9::engine {

enum class Logits { kNone, kLast, kAll };

struct StepPart {
  std::span<const TokenId> tokens;         // consecutive; must stay readable while the step runs
  int first_position = 0;                  // of tokens[0] in its sequence
  const kv::Sequence* sequence = nullptr;  // its pages reach at least to the last of these positions
  Logits logits = Logits::kNone;
  int owner = 0;        // index for whoever made the plan
  bool hidden = false;  // the final hidden states of all its rows are wanted
};

// The state of a part's sequence after its first `position` tokens goes to `slot`.
struct StateSave {
  int part = 0;
  int position = 0;  // in the part's range: first_position < position <= first_position + rows
  kv::PageId slot = kv::kNoPage;
};

struct StepPlan {
  std::vector<kv::PageCopy> copies;
  std::vector<StepPart> parts;
  std::vector<StateSave> saves;  // in the order of the parts, positions ascending
  int rows = 0;                  // of all parts
  int logit_rows = 0;            // of all parts
  int hidden_rows = 0;           // likewise

  void clear() { copies.clear(), parts.clear(), saves.clear(), rows = logit_rows = hidden_rows = 0; }
  void add(const StepPart& part) {
    parts.push_back(part);
    const int n = static_cast<int>(part.tokens.size());
    rows += n;
    logit_rows += part.logits == Logits::kAll ? n : part.logits == Logits::kLast ? 1 : 0;
    if (part.hidden) hidden_rows += n;
  }
};

}  // namespace tempo9::engine
