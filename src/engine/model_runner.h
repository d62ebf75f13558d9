// Runs steps: binds a StepPlan to device arrays, submits the model's operations and brings the logits back.
// Owns device, model and slabs. Threads: one at a time.
#pragma once
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "backend/device.h"
#include "engine/step_plan.h"
#include "gguf/file.h"
#include "kv/kv_cache.h"
#include "model/model.h"

namespace tempo9::engine {

struct RunnerOptions {
  backend::KvType kv_type = backend::KvType::kF16;
  int max_rows = 512;
  int max_logit_rows = 64;
  int max_sequences = 64;
  int max_context = 0;           // tokens of one sequence; 0: as trained
  uint64_t kv_memory_bytes = 0;  // bound for all pages
};

class ModelRunner final : private kv::SlabSource {
 public:
  static Result<std::unique_ptr<ModelRunner>> load(const gguf::File& file,
                                                   std::unique_ptr<backend::Device> device,
                                                   const RunnerOptions& options,
                                                   const model::Progress& progress);
  ~ModelRunner() override;

  // Begins to compute the plan (within the options' bounds), which may change as soon as this returns.
  void submit(const StepPlan& plan);
  // Ends what submit() began. Row i of the result, vocabulary_size() values the caller may change, is the
  // i-th row of the plan that asks for logits; valid until the next submit().
  Result<std::span<float>> wait() { return wait_for(lanes_[0]); }
  Result<std::span<float>> run(const StepPlan& plan) {
    submit(plan);
    return wait();
  }
  // A second step, in slices, which others run between: the plan's copies are made at once, and the sequences
  // it extends may not be used by another step until it has ended.
  Status begin_pass(const StepPlan& plan);
  // Computes layers until about then, one at least. True: end_pass() may follow.
  Result<bool> advance_pass(std::chrono::steady_clock::time_point until);
  // As wait(), valid until the next begin_pass().
  Result<std::span<float>> end_pass();
  // As hidden(), after end_pass().
  Result<std::span<float>> pass_hidden() { return hidden_of(lanes_[1]); }

  // After run(): what the model's draft head says about the same rows, `next` being the token that follows
  // each of them. As run(), one row of logits for each that asked for them. kUnsupported if the model has no
  // such head.
  Result<std::span<float>> draft(std::span<const TokenId> next);

  // After run(): the final hidden states, hidden_size() values, of each row of the plan that asked for them.
  // Valid until the next call of any of the three.
  Result<std::span<float>> hidden() { return hidden_of(lanes_[0]); }

  kv::KvCache& kv() { return *kv_; }
  const RunnerOptions& options() const { return options_; }
  int vocabulary_size() const { return model_->vocabulary_size(); }
  int hidden_size() const { return model_->hidden_size(); }
  int layer_count() const { return model_->layer_count(); }
  int trained_context() const { return model_->context_length(); }
  // Tokens one sequence can have: bounded by max_context and by the memory for pages.
  int max_context() const { return max_context_; }
  const backend::Device& device() const { return *device_; }
  size_t weight_bytes() const { return model_->weight_bytes(); }
  // Everything a step needs besides weights and pages.
  size_t workspace_bytes() const;
  std::vector<std::string> remarks() const { return model_->remarks(); }

 private:
  ModelRunner(std::unique_ptr<backend::Device> device, const RunnerOptions& options)
      : device_(std::move(device)), options_(options) {}
  Status allocate_slab(int group, int slab) override;
  void release_slab(int group, int slab) override;
  Status prepare_kv();
  // What a step is made of besides the model: its int32 arrays, made on the host and copied to the device
  // together, and what comes back.
  struct Lane {
    std::unique_ptr<backend::Buffer> inputs;
    model::StepInput step;
    std::vector<int32_t> ids, positions, segments, logit_rows, hidden_rows, saves;
    std::vector<std::vector<int32_t>> page_tables;
    std::vector<int32_t> packed;  // all of them
    std::unique_ptr<backend::HostMemory> logits;
    std::vector<float> hidden;
    std::span<float> fetched;  // of these: what the work in flight gives
  };
  Status prepare_lane(int number);
  void check(const StepPlan& plan) const;
  void bind(Lane& lane, const StepPlan& plan);
  void upload(Lane& lane, const StepPlan& plan, int longest);
  void bind_copies(Lane& lane, const StepPlan& plan);
  backend::View put(Lane& lane, std::span<const int32_t> values);
  void fetch(Lane& lane, const backend::View& rows, std::span<std::byte> host);
  Result<std::span<float>> hidden_of(Lane& lane);
  Result<std::span<float>> wait_for(const Lane& lane);

  struct GroupSlabs {
    std::unique_ptr<backend::SlabTable> table;
    std::vector<std::unique_ptr<backend::Buffer>> slabs;
    size_t slab_bytes = 0;
  };

  std::unique_ptr<backend::Device> device_;
  RunnerOptions options_;
  std::unique_ptr<model::Model> model_;
  std::unique_ptr<backend::Stream> stream_;
  std::vector<GroupSlabs> groups_;
  std::vector<model::StepInput::Pages> pages_;  // of the groups
  std::unique_ptr<kv::KvCache> kv_;
  int max_context_ = 0;
  std::array<Lane, 2> lanes_;  // steps, and passes
  int next_layer_ = 0;         // of the pass
  std::vector<int32_t> copies_;
  std::vector<backend::CopyPages> page_copies_;
};

}  // namespace tempo9::engine
