#include "engine/model_runner.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"

namespace tempo9::engine {

using backend::View;

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
  TRY(runner->prepare_inputs());
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
    step_.pages.push_back(
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

Status ModelRunner::prepare_inputs() {
  const auto rows = static_cast<size_t>(options_.max_rows),
             sequences = static_cast<size_t>(options_.max_sequences);
  // Sequences may share all their pages, so there are more entries than pages.
  const size_t pages = sequences * (static_cast<size_t>(max_context_) / limits::kPageTokens + 1);
  const size_t arrays = 6 + 2 * groups_.size(), lines = arrays * 64;
  const size_t saves = rows, copies = sequences;  // of two values each
  const size_t values = 3 * rows + 4 * sequences + static_cast<size_t>(options_.max_logit_rows) + 2 * saves +
                        (pages + 2 * copies) * groups_.size();
  TRY_ASSIGN(inputs_, device_->allocate(values * sizeof(int32_t) + lines));
  page_tables_.resize(groups_.size());
  step_.page_tables.resize(groups_.size());
  TRY_ASSIGN(logits_, device_->allocate_host(static_cast<size_t>(options_.max_logit_rows) *
                                             static_cast<size_t>(vocabulary_size()) * sizeof(float)));
  return {};
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

// To the arrays that upload_inputs() copies, on a border of 64 bytes.
View ModelRunner::put(std::span<const int32_t> values) {
  constexpr size_t kLine = 64 / sizeof(int32_t);
  const View view{inputs_.get(), packed_.size() * sizeof(int32_t), static_cast<int>(values.size()), 1, 1};
  packed_.insert(packed_.end(), values.begin(), values.end());
  packed_.resize((packed_.size() + kLine - 1) / kLine * kLine);
  CHECK(packed_.size() * sizeof(int32_t) <= inputs_->bytes());
  return view;
}

void ModelRunner::upload_inputs() {
  const int values = static_cast<int>(packed_.size());
  stream_->upload({inputs_.get(), 0, 1, values, values}, std::as_bytes(std::span(packed_)));
}

void ModelRunner::bind(const StepPlan& plan) {
  ids_.clear(), positions_.clear(), segments_.clear(), logit_rows_.clear(), hidden_rows_.clear();
  for (auto& table : page_tables_) table.clear();
  int longest = 0, entries = 0;
  for (const StepPart& part : plan.parts) {
    const auto first_row = static_cast<int32_t>(ids_.size()), n = static_cast<int32_t>(part.tokens.size());
    segments_.insert(segments_.end(), {first_row, n, part.first_position, entries});
    for (int32_t i = 0; i < n; ++i) {
      ids_.push_back(part.tokens[static_cast<size_t>(i)]);
      positions_.push_back(part.first_position + i);
      if (part.logits == Logits::kAll || (part.logits == Logits::kLast && i == n - 1))
        logit_rows_.push_back(first_row + i);
      if (part.hidden) hidden_rows_.push_back(first_row + i);
    }
    longest = std::max(longest, part.first_position + n);
    const int pages = (part.first_position + n + limits::kPageTokens - 1) / limits::kPageTokens;
    for (size_t g = 0; g < page_tables_.size(); ++g) {
      const auto& table = part.sequence->tables[g];
      const bool state = kv_->layout().groups[g].keeps == kv::Keeps::kState;
      page_tables_[g].insert(page_tables_[g].end(), table.begin(), table.begin() + (state ? 1 : pages));
    }
    entries += pages;
  }
  saves_.clear();
  for (const StateSave& save : plan.saves) {
    const auto part = static_cast<size_t>(save.part);
    const int row = segments_[4 * part] + save.position - plan.parts[part].first_position - 1;
    saves_.insert(saves_.end(), {row, save.slot});
  }
  packed_.clear();
  bind_copies(plan);
  step_.rows = plan.rows;
  step_.ids = put(ids_);
  step_.positions = put(positions_);
  step_.segments = {put(segments_), static_cast<int>(plan.parts.size()), plan.rows, longest};
  step_.logit_rows = put(logit_rows_);
  step_.hidden_rows = put(hidden_rows_);
  step_.saves = as_pairs(put(saves_));
  for (size_t g = 0; g < page_tables_.size(); ++g) step_.page_tables[g] = put(page_tables_[g]);
  upload_inputs();
  for (const backend::CopyPages& copy : page_copies_) stream_->submit(copy);
}

// The copies that the step's sequences begin with.
void ModelRunner::bind_copies(const StepPlan& plan) {
  page_copies_.clear();
  for (size_t g = 0; g < groups_.size(); ++g) {
    copies_.clear();
    for (const kv::PageCopy& copy : plan.copies)
      if (copy.group == static_cast<int>(g)) copies_.insert(copies_.end(), {copy.from, copy.to});
    if (copies_.empty()) continue;
    const model::StepInput::Pages& pages = step_.pages[g];
    page_copies_.push_back({pages.slabs, pages.pages_per_slab, pages.page_bytes, as_pairs(put(copies_))});
  }
}

void ModelRunner::submit(const StepPlan& plan) {
  CHECK(plan.rows > 0 && plan.rows <= options_.max_rows && plan.logit_rows <= options_.max_logit_rows);
  CHECK(static_cast<int>(plan.parts.size()) <= options_.max_sequences);
  bind(plan);
  fetch(model_->forward(*stream_, step_), logits_->bytes());
}

Result<std::span<float>> ModelRunner::draft(std::span<const TokenId> next) {
  if (!model_->has_draft_head()) return fail(ErrorCode::kUnsupported, "this model has no draft head (MTP)");
  CHECK(static_cast<int>(next.size()) == step_.rows);
  stream_->upload(step_.ids, std::as_bytes(next));
  fetch(model_->draft(*stream_, step_), logits_->bytes());
  return wait();
}

Result<std::span<float>> ModelRunner::hidden() {
  const View rows = model_->hidden(*stream_, step_);
  hidden_.resize(static_cast<size_t>(rows.rows) * static_cast<size_t>(hidden_size()));
  fetch(rows, std::as_writable_bytes(std::span(hidden_)));
  return wait();
}

void ModelRunner::fetch(const View& rows, std::span<std::byte> host) {
  fetched_ = {reinterpret_cast<float*>(host.data()),
              static_cast<size_t>(rows.rows) * static_cast<size_t>(rows.columns)};
  if (!fetched_.empty()) stream_->download(std::as_writable_bytes(fetched_), rows);
}

Result<std::span<float>> ModelRunner::wait() {
  TRY(stream_->synchronize());
  return fetched_;
}

}  // namespace tempo9::engine
