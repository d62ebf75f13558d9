#include "engine/model_runner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"

namespace tempo9::engine {

using backend::View;
using Clock = std::chrono::steady_clock;

namespace {

// Of the KV memory: so that groups of layers may share it in parts of any size.
constexpr size_t kLeastSlabs = 32;

View as_pairs(View view) {
  return {view.buffer, view.offset, view.rows / 2, 2, 2};
}

}  // namespace

Result<std::unique_ptr<ModelRunner>> ModelRunner::load(const gguf::File& file,
                                                       std::unique_ptr<backend::Device> device,
                                                       const RunnerOptions& options,
                                                       const model::Progress& progress) {
  auto runner = std::unique_ptr<ModelRunner>(new ModelRunner(std::move(device), options));
  TRY_ASSIGN(runner->model_,
             model::load_model(file, *runner->device_,
                               {options.kv_type, options.max_rows, options.max_logit_rows}, progress));
  runner->stream_ = runner->device_->create_stream();
  TRY(runner->prepare_kv());
  TRY(runner->prepare_lane(0));
  return runner;
}

ModelRunner::~ModelRunner() {
  kv_.reset();  // gives its slabs back through this object
}

Status ModelRunner::prepare_kv() {
  const kv::Layout& layout = model_->kv_layout();
  kv_ = std::make_unique<kv::KvCache>(
      layout,
      kv::CacheOptions{.memory_bytes = options_.kv_memory_bytes,
                       .slab_bytes = std::min(limits::kSlabBytes, options_.kv_memory_bytes / kLeastSlabs),
                       .step_tokens = options_.max_rows},
      static_cast<kv::SlabSource&>(*this));
  for (int g = 0; g < kv_->groups(); ++g) {
    GroupSlabs group;
    group.table = device_->create_slab_table(kv_->max_slabs(g));
    group.slabs.resize(static_cast<size_t>(kv_->max_slabs(g)));
    group.slab_bytes =
        static_cast<size_t>(kv_->pages_per_slab(g)) * layout.groups[static_cast<size_t>(g)].page_bytes;
    pages_.push_back(
        {group.table.get(), kv_->pages_per_slab(g), layout.groups[static_cast<size_t>(g)].page_bytes});
    groups_.push_back(std::move(group));
  }
  const int wanted = options_.max_context == 0 ? model_->context_length() : options_.max_context;
  max_context_ = static_cast<int>(std::min<int64_t>(wanted, kv_->max_tokens()));
  if (max_context_ < limits::kPageTokens)
    return fail(ErrorCode::kOutOfMemory, "{} bytes of KV memory do not hold one page of 64 tokens",
                options_.kv_memory_bytes);
  return {};
}

// Memory for a lane; nothing if it is there.
Status ModelRunner::prepare_lane(int number) {
  Lane& lane = lanes_.at(static_cast<size_t>(number));
  if (lane.logits) return {};
  TRY(model_->prepare_lane(*device_, number));
  const auto rows = static_cast<size_t>(options_.max_rows),
             sequences = static_cast<size_t>(options_.max_sequences);
  // Sequences may share all their pages, so there are more entries than pages.
  const size_t pages = sequences * (static_cast<size_t>(max_context_) / limits::kPageTokens + 1);
  const size_t arrays = 6 + 2 * groups_.size(), lines = arrays * 64;
  const size_t saves = rows, copies = sequences;  // of two values each
  const size_t values = 3 * rows + 4 * sequences + static_cast<size_t>(options_.max_logit_rows) + 2 * saves +
                        (pages + 2 * copies) * groups_.size();
  TRY_ASSIGN(lane.inputs, device_->allocate(values * sizeof(int32_t) + lines));
  lane.page_tables.resize(groups_.size());
  lane.step.page_tables.resize(groups_.size());
  lane.step.pages = pages_;
  lane.step.lane = number;
  TRY_ASSIGN(lane.logits, device_->allocate_host(static_cast<size_t>(options_.max_logit_rows) *
                                                 static_cast<size_t>(vocabulary_size()) * sizeof(float)));
  return {};
}

size_t ModelRunner::workspace_bytes() const {
  size_t bytes = model_->workspace_bytes() + device_->scratch_bytes();
  for (const Lane& lane : lanes_)
    if (lane.logits)
      bytes += lane.inputs->bytes() + lane.logits->bytes().size() + lane.hidden.size() * sizeof(float);
  return bytes;
}

Status ModelRunner::allocate_slab(int group, int slab) {
  GroupSlabs& g = groups_[static_cast<size_t>(group)];
  TRY_ASSIGN(auto buffer, device_->allocate(g.slab_bytes));
  g.table->set(slab, buffer.get());
  g.slabs[static_cast<size_t>(slab)] = std::move(buffer);
  return {};
}

void ModelRunner::release_slab(int group, int slab) {
  GroupSlabs& g = groups_[static_cast<size_t>(group)];
  g.table->set(slab, nullptr);
  g.slabs[static_cast<size_t>(slab)].reset();
}

void ModelRunner::bind(Lane& lane, const StepPlan& plan) {
  lane.ids.clear(), lane.positions.clear(), lane.segments.clear();
  lane.logit_rows.clear(), lane.hidden_rows.clear(), lane.saves.clear();
  for (auto& table : lane.page_tables) table.clear();
  int longest = 0, entries = 0;
  for (const StepPart& part : plan.parts) {
    const auto first_row = static_cast<int32_t>(lane.ids.size()),
               n = static_cast<int32_t>(part.tokens.size());
    lane.segments.insert(lane.segments.end(), {first_row, n, part.first_position, entries});
    for (int32_t i = 0; i < n; ++i) {
      lane.ids.push_back(part.tokens[static_cast<size_t>(i)]);
      lane.positions.push_back(part.first_position + i);
      if (part.logits == Logits::kAll || (part.logits == Logits::kLast && i == n - 1))
        lane.logit_rows.push_back(first_row + i);
      if (part.hidden) lane.hidden_rows.push_back(first_row + i);
    }
    longest = std::max(longest, part.first_position + n);
    const int pages = (part.first_position + n + limits::kPageTokens - 1) / limits::kPageTokens;
    for (size_t g = 0; g < lane.page_tables.size(); ++g) {
      const auto& table = part.sequence->tables[g];
      const bool state = kv_->layout().groups[g].keeps == kv::Keeps::kState;
      lane.page_tables[g].insert(lane.page_tables[g].end(), table.begin(),
                                 table.begin() + (state ? 1 : pages));
    }
    entries += pages;
  }
  for (const StateSave& save : plan.saves) {
    const auto part = static_cast<size_t>(save.part);
    const int row = lane.segments[4 * part] + save.position - plan.parts[part].first_position - 1;
    lane.saves.insert(lane.saves.end(), {row, save.slot});
  }
  upload(lane, plan, longest);
}

// To the arrays that upload() copies, on a border of 64 bytes.
View ModelRunner::put(Lane& lane, std::span<const int32_t> values) {
  constexpr size_t kLine = 64 / sizeof(int32_t);
  std::vector<int32_t>& packed = lane.packed;
  const View view{lane.inputs.get(), packed.size() * sizeof(int32_t), static_cast<int>(values.size()), 1, 1};
  packed.insert(packed.end(), values.begin(), values.end());
  packed.resize((packed.size() + kLine - 1) / kLine * kLine);
  CHECK(packed.size() * sizeof(int32_t) <= lane.inputs->bytes());
  return view;
}

void ModelRunner::upload(Lane& lane, const StepPlan& plan, int longest) {
  lane.packed.clear();
  bind_copies(lane, plan);
  model::StepInput& step = lane.step;
  step.rows = plan.rows;
  step.ids = put(lane, lane.ids);
  step.positions = put(lane, lane.positions);
  step.segments = {put(lane, lane.segments), static_cast<int>(plan.parts.size()), plan.rows, longest};
  step.logit_rows = put(lane, lane.logit_rows);
  step.hidden_rows = put(lane, lane.hidden_rows);
  step.saves = as_pairs(put(lane, lane.saves));
  for (size_t g = 0; g < lane.page_tables.size(); ++g) step.page_tables[g] = put(lane, lane.page_tables[g]);
  const int values = static_cast<int>(lane.packed.size());
  stream_->upload({lane.inputs.get(), 0, 1, values, values}, std::as_bytes(std::span(lane.packed)));
  for (const backend::CopyPages& copy : page_copies_) stream_->submit(copy);
}

// The copies that the step's sequences begin with.
void ModelRunner::bind_copies(Lane& lane, const StepPlan& plan) {
  page_copies_.clear();
  for (size_t g = 0; g < groups_.size(); ++g) {
    copies_.clear();
    for (const kv::PageCopy& copy : plan.copies)
      if (copy.group == static_cast<int>(g)) copies_.insert(copies_.end(), {copy.from, copy.to});
    if (copies_.empty()) continue;
    const model::StepInput::Pages& pages = pages_[g];
    page_copies_.push_back(
        {pages.slabs, pages.pages_per_slab, pages.page_bytes, as_pairs(put(lane, copies_))});
  }
}

void ModelRunner::check(const StepPlan& plan) const {
  CHECK(plan.rows > 0 && plan.rows <= options_.max_rows && plan.logit_rows <= options_.max_logit_rows);
  CHECK(static_cast<int>(plan.parts.size()) <= options_.max_sequences);
}

void ModelRunner::submit(const StepPlan& plan) {
  check(plan);
  bind(lanes_[0], plan);
  fetch(lanes_[0], model_->forward(*stream_, lanes_[0].step), lanes_[0].logits->bytes());
}

Status ModelRunner::begin_pass(const StepPlan& plan) {
  check(plan);
  TRY(prepare_lane(1));
  bind(lanes_[1], plan);
  model_->begin(*stream_, lanes_[1].step);
  next_layer_ = 0;
  return {};
}

Result<bool> ModelRunner::advance_pass(Clock::time_point until) {
  const int layers = model_->layer_count();
  for (auto now = Clock::now(); next_layer_ < layers;) {
    model_->advance(*stream_, lanes_[1].step, next_layer_++);
    TRY(stream_->synchronize());
    const auto begun = std::exchange(now, Clock::now());
    if (now + (now - begun) / 2 > until) break;
  }
  return next_layer_ == layers;
}

Result<std::span<float>> ModelRunner::end_pass() {
  fetch(lanes_[1], model_->end(*stream_, lanes_[1].step), lanes_[1].logits->bytes());
  return wait_for(lanes_[1]);
}

Result<std::span<float>> ModelRunner::draft(std::span<const TokenId> next) {
  if (!model_->has_draft_head()) return fail(ErrorCode::kUnsupported, "this model has no draft head (MTP)");
  Lane& lane = lanes_[0];
  CHECK(static_cast<int>(next.size()) == lane.step.rows);
  stream_->upload(lane.step.ids, std::as_bytes(next));
  fetch(lane, model_->draft(*stream_, lane.step), lane.logits->bytes());
  return wait();
}

Result<std::span<float>> ModelRunner::hidden_of(Lane& lane) {
  const View rows = model_->hidden(*stream_, lane.step);
  lane.hidden.resize(static_cast<size_t>(rows.rows) * static_cast<size_t>(hidden_size()));
  fetch(lane, rows, std::as_writable_bytes(std::span(lane.hidden)));
  return wait_for(lane);
}

void ModelRunner::fetch(Lane& lane, const View& rows, std::span<std::byte> host) {
  lane.fetched = {reinterpret_cast<float*>(host.data()),
                  static_cast<size_t>(rows.rows) * static_cast<size_t>(rows.columns)};
  if (!lane.fetched.empty()) stream_->download(std::as_writable_bytes(lane.fetched), rows);
}

Result<std::span<float>> ModelRunner::wait_for(const Lane& lane) {
  TRY(stream_->synchronize());
  return lane.fetched;
}

}  // namespace tempo9::engine
