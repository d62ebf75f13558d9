// How each operation is cut into work for the threads. The kernels do not know threads, and nothing here
// knows an instruction set.
#pragma once
#include <algorithm>

#include "backend/cpu/attention_plan.h"
#include "backend/cpu/expert_groups.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/scratch.h"
#include "backend/host/host_kernels.h"
#include "base/thread_pool.h"

namespace tempo9::backend::cpu {

// What an operation runs with. One operation at a time uses it.
struct Context {
  const Kernels& kernels;
  ThreadPool& pool;
  Scratch& scratch;
  AttentionPlan& attention_plan;
  ExpertGroups& expert_groups;
  std::atomic<uint64_t>& expert_matrices;  // see WorkCounters
};

void run(const EmbedRows& op, Context& context);
void run(const RmsNorm& op, Context& context);
void run(const Linear& op, Context& context);
void run(const RopeAngles& op, Context& context);
void run(const Rope& op, Context& context);
void run(const KvWrite& op, Context& context);
void run(const Attention& op, Context& context);
void run(const GatherRows& op, Context& context);
void run(const Softcap& op, Context& context);
void run(const RouteTopK& op, Context& context);
void run(const ExpertLinear& op, Context& context);
void run(const CombineExperts& op, Context& context);
void run(const CopyPages& op, Context& context);
void run(const CausalConv& op, Context& context);
void run(const GatedDelta& op, Context& context);

// Into how many items the products of an operation are cut for each thread, so that threads finish together.
inline constexpr int kItemsPerThread = 8;

// Elements of memory that are worth a thread: about the work that its start costs.
inline constexpr int kElementsPerItem = 8192;

// Calls body(first, last) for ranges of rows: on this thread if there is little to do, on all otherwise.
template <class Body>
void for_row_ranges(ThreadPool& pool, int rows, int elements_per_row, Body&& body) {
  const int per_item = std::max(1, kElementsPerItem / std::max(1, elements_per_row));
  const int items = (rows + per_item - 1) / per_item;
  pool.for_each(items, [&](int item, int) { body(item * per_item, std::min(rows, (item + 1) * per_item)); });
}

}  // namespace tempo9::backend::cpu
