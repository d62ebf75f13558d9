// The scheduler and the KV cache as they serve, with a device that computes nothing but remembers everything:
// each place of a page holds a hash of the tokens up to it, each state a hash of all its tokens. A row checks
// all that it would read. A pass reads and writes only at its end, when others may have had many steps, with
// the page tables that it began with. Requests come and go at random, all of it from one seed.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/scheduler.h"

namespace tempo9::engine::testing {

using Hash = uint64_t;

// Pages and states of hashes. Throws std::logic_error where a device would have computed nonsense.
class SimulatedMemory final : public kv::SlabSource {
 public:
  SimulatedMemory(const kv::Layout& layout, unsigned seed) : layout_(layout), random_(seed) {}
  void set_pages_per_slab(int group, int pages) { pages_per_slab_[group] = pages; }

  Status allocate_slab(int group, int slab) override;
  void release_slab(int group, int slab) override;
  // The next slab will be refused, as by a system without memory.
  void refuse_next() { refuse_next_ = true; }

  std::vector<Hash>& page(int group, kv::PageId page);
  void copy(const kv::PageCopy& copy) { page(copy.group, copy.to) = page(copy.group, copy.from); }
  size_t slabs() const { return slabs_.size(); }

 private:
  const kv::Layout& layout_;
  std::mt19937 random_;
  std::map<int, int> pages_per_slab_;
  std::map<std::pair<int, int>, std::vector<std::vector<Hash>>> slabs_;
  bool refuse_next_ = false;
};

struct SimulatorOptions {
  kv::Layout layout;
  size_t memory_bytes = 0, slab_bytes = 0;
  SchedulerOptions scheduler;
  unsigned seed = 0;
  double arrivals = 0.3, cancellations = 0.01;  // per step
  double failing_steps = 0, failing_slabs = 0;
  double ending_passes = 0.3;  // per step
  int longest_prompt = 400, longest_reply = 60;
};

class Simulator {
 public:
  explicit Simulator(const SimulatorOptions& options);

  // Steps with arrivals and cancellations, then without until all is quiet. Throws std::logic_error, naming
  // the seed and the step, when something is wrong.
  void run(int steps);

  struct Totals {
    int64_t steps = 0, passes = 0, rows = 0, finished = 0, cancelled = 0, failed = 0, prompt_tokens = 0,
            cached_tokens = 0;
  };
  const Totals& totals() const { return totals_; }
  const kv::KvCache& kv() const { return *kv_; }
  Scheduler& scheduler() { return *scheduler_; }

  // For tests that place their own requests.
  RequestId add(std::vector<TokenId> prompt, int max_new);
  void step();
  // What the simulated model would reply.
  static std::vector<TokenId> reply_to(std::vector<TokenId> prompt, int max_new);

 private:
  class Sink;
  [[noreturn]] void wrong(const std::string& what) const;
  void arrive();
  void cancel_one();
  // A part as a device has it: nothing of it belongs to the request any more.
  struct BoundPart {
    std::vector<TokenId> tokens;  // of the whole sequence
    int first = 0, rows = 0;
    kv::Sequence pages;
  };
  struct BoundPlan {
    std::vector<BoundPart> parts;
    std::vector<StateSave> saves;
  };
  BoundPlan bind(const StepPlan& plan);
  void compute(const BoundPlan& plan);
  void compute_step(const StepPlan& plan);
  void advance_pass();
  void compute_row(const BoundPart& part, const std::vector<Hash>& hashes, int position);
  void settle(const StepPlan& plan);
  void finish(std::unique_ptr<RequestState> request);
  void check_counts() const;

  SimulatorOptions options_;
  std::mt19937 random_;
  SimulatedMemory memory_;
  std::unique_ptr<kv::KvCache> kv_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<std::vector<TokenId>> conversations_;  // what a later prompt may continue
  BoundPlan pass_;                                   // on its way
  RequestId last_id_ = 0;
  bool draining_ = true;  // nobody comes on their own
  Totals totals_;
};

}  // namespace tempo9::engine::testing
