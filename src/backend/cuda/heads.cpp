#include "backend/cuda/heads.h"

#include "backend/cuda/heads_args.h"

namespace tempo9::backend::cuda {

extern const void* const kPrepareHeads;  // kernels.cu

namespace {

template <class T = float>
T* place_of(const View& view, const gpu::Launcher& launcher) {
  if (!view) return nullptr;
  return reinterpret_cast<T*>(launcher.address(*view.buffer) + view.offset);
}

bool is_same(const View& a, const View& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.rows == b.rows && a.columns == b.columns &&
         a.stride == b.stride;
}

// The operations on queries, or on keys.
struct Side {
  const RmsNorm* norm = nullptr;
  const Rope* rope = nullptr;

  bool add(const RmsNorm& op) {
    if (norm != nullptr || rope != nullptr || !op.weight) return false;
    norm = &op;
    return true;
  }
  bool add(const Rope& op) {
    if (rope != nullptr) return false;
    rope = &op;
    return norm == nullptr || (is_same(norm->x, op.x) && norm->groups == op.heads);
  }
  HeadsSide args(const gpu::Launcher& launcher) const {
    return {.x = place_of(rope->x, launcher),
            .norm_weight = norm == nullptr ? nullptr : place_of(norm->weight, launcher),
            .angles = place_of(rope->angles, launcher),
            .stride = static_cast<uint32_t>(rope->x.stride),
            .angle_stride = static_cast<uint32_t>(rope->angles.stride),
            .heads = static_cast<uint32_t>(rope->heads),
            .epsilon = norm == nullptr ? 0.0f : norm->epsilon};
  }
};

bool sort_out(std::span<const Op> before, const View& key_view, Side& queries, Side& keys) {
  for (const Op& op : before) {
    const auto* norm = std::get_if<RmsNorm>(&op);
    const View& x = norm != nullptr ? norm->x : std::get<Rope>(op).x;
    Side& side = is_same(x, key_view) ? keys : queries;
    if (!(norm != nullptr ? side.add(*norm) : side.add(std::get<Rope>(op)))) return false;
  }
  return queries.rope != nullptr && keys.rope != nullptr;
}

}  // namespace

bool may_precede_kv_write(const Op& op) {
  if (const auto* norm = std::get_if<RmsNorm>(&op)) return !norm->add && is_same(norm->x, norm->out);
  return std::holds_alternative<Rope>(op);
}

bool run_as_heads(std::span<const Op> before, const KvWrite& write, const gpu::Launcher& launcher,
                  LaunchQueue& queue) {
  Side queries, keys;
  if (write.kv.shape.type != KvType::kF16 || !sort_out(before, write.keys, queries, keys)) return false;
  const Rope &q = *queries.rope, &k = *keys.rope;
  const KvShape& shape = write.kv.shape;
  if (q.head_size != shape.key_size || k.head_size != shape.key_size || k.heads != shape.heads ||
      q.x.rows != k.x.rows || q.pairs != k.pairs || q.angles.columns != k.angles.columns)
    return false;
  const HeadsArgs args = {.queries = queries.args(launcher),
                          .keys = keys.args(launcher),
                          .values = place_of(write.values, launcher),
                          .page_table = place_of<int>(write.page_table, launcher),
                          .segments = place_of<int>(write.segments.table, launcher),
                          .slabs = launcher.slabs(*write.kv.slabs),
                          .page_bytes = write.kv.page_bytes,
                          .layer_offset = write.kv.layer_offset,
                          .pages_per_slab = static_cast<uint32_t>(write.kv.pages_per_slab),
                          .segment_count = static_cast<uint32_t>(write.segments.count),
                          .value_stride = static_cast<uint32_t>(write.values.stride),
                          .size = static_cast<uint32_t>(shape.key_size),
                          .value_size = static_cast<uint32_t>(shape.value_size),
                          .pairs = static_cast<uint32_t>(k.angles.columns / 2),
                          .adjacent = k.pairs == RopePairs::kAdjacent};
  const int heads = q.heads + 2 * k.heads;
  queue.add(kPrepareHeads, kHeadThreads, {static_cast<uint32_t>(write.keys.rows * heads), 1}, args);
  return true;
}

}  // namespace tempo9::backend::cuda
