// A model: weights on a device and the order of operations that turns tokens into logits.
// Threads: one at a time. Ownership: a Model owns its weights and workspace; the device must outlive it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/device.h"
#include "base/result.h"
#include "gguf/file.h"
#include "kv/layout.h"

namespace tempo9::model {

struct LoadOptions {
  backend::KvType kv_type = backend::KvType::kF16;
  int max_rows = 512;       // of one step
  int max_logit_rows = 64;  // rows of one step that may ask for logits
};

// Called with 0..1 while weights are read.
using Progress = std::function<void(double)>;

// One step's input, already on the device.
struct StepInput {
  int rows = 0;
  backend::View ids;        // int32 [rows, 1]
  backend::View positions;  // int32 [rows, 1]
  backend::Segments segments;
  // Per KV group: page tables of all sequences, one after the other. A segment's first entry is the same
  // number in every group.
  // A group of states has one entry per segment instead.
  std::vector<backend::View> page_tables;
  backend::View logit_rows;   // int32 [n, 1]: rows whose logits are wanted
  backend::View hidden_rows;  // int32 [n, 1]: rows whose final hidden states are wanted
  backend::View saves;        // int32 [n, 2]: rows after which states are saved, and the slots; may be absent
  int lane = 0;               // 1: a step that others, of lane 0, come between
  // Per KV group: where its pages are.
  struct Pages {
    const backend::SlabTable* slabs = nullptr;
    int pages_per_slab = 0;
    size_t page_bytes = 0;
  };
  std::vector<Pages> pages;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual int vocabulary_size() const = 0;
  virtual int hidden_size() const = 0;
  virtual int context_length() const = 0;  // that it was trained for
  virtual const kv::Layout& kv_layout() const = 0;
  virtual size_t weight_bytes() const = 0;     // on the device
  virtual size_t workspace_bytes() const = 0;  // what a step computes with
  // What a user should know about the file although it runs; one sentence each.
  virtual std::vector<std::string> remarks() const { return {}; }
  // Submits one step. Returns the view that holds [logit rows, vocabulary] once the stream has come that far.
  virtual backend::View forward(backend::Stream& stream, const StepInput& step) = 0;

  // forward() in parts, between which a step of the other lane may run on the same stream: begin(), each
  // layer in order, end().
  virtual int layer_count() const = 0;
  virtual Status prepare_lane(backend::Device& device, int lane) = 0;  // memory; lane 0 has it
  virtual void begin(backend::Stream& stream, const StepInput& step) = 0;
  virtual void advance(backend::Stream& stream, const StepInput& step, int layer) = 0;
  virtual backend::View end(backend::Stream& stream, const StepInput& step) = 0;

  // After forward() of the same step, before draft(): submits the final norm of the step's hidden rows.
  // Returns the view that holds [hidden rows, hidden_size()].
  virtual backend::View hidden(backend::Stream& stream, const StepInput& step) = 0;

  // Whether the file brought a head that drafts the token after next (MTP).
  virtual bool has_draft_head() const { return false; }
  // After forward() of the same rows, `step.ids` now being the tokens that follow them: submits the draft
  // head. Row i of the result is about the token after step.ids[i]. The head keeps keys and values of its own
  // in the same pages.
  virtual backend::View draft(backend::Stream&, const StepInput&) { return {}; }
};

// kUnsupported names what is unknown; kCorrupt the tensor or key that is missing, superfluous or of the wrong
// shape.
Result<std::unique_ptr<Model>> load_model(const gguf::File& file, backend::Device& device,
                                          const LoadOptions& options, const Progress& progress);

// Whether load_model() would accept the file, without reading weights: the same checks of architecture, keys,
// tensors and formats. Returns the model's remarks.
Result<std::vector<std::string>> check_model(const gguf::File& file);

}  // namespace tempo9::model
