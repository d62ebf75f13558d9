#include "backend/cuda/tensor/attend.h"

#include "backend/gpu/dialect/host.h"
// A dialect comes first.
#include "backend/cuda/tensor/args.h"
#include "backend/gpu/kernels/args.h"
#include "backend/gpu/operations.h"

namespace tempo9::backend::cuda {

// kernels.cu: by size of heads (64, 128, 256) and tiles of sixteen query rows (1, 2).
extern const void* const kAttentionKernels[3][2];
extern const uint32_t kAttentionShared[3][2];

namespace {

// Blocks that a sequence's splits are spread over: several times what a large GPU has room for at once, for
// few rows; rows enough to fill it need not be divided.
constexpr uint32_t kEnoughForFew = 1024, kEnoughForMany = 256;
constexpr size_t kMostPartialBytes = 64 << 20;

// The kernel's place in the tables, or -1.
int kind_of_size(const KvShape& shape) {
  if (shape.type != KvType::kF16 || shape.key_size != shape.value_size) return -1;
  return shape.key_size == 64 ? 0 : shape.key_size == 128 ? 1 : shape.key_size == 256 ? 2 : -1;
}

}  // namespace

bool attend_on_tensor_cores(const Attention& op, gpu::Launcher& launcher, LaunchQueue& queue) {
  const int kind = kind_of_size(op.kv.shape);
  if (kind < 0 || op.queries.stride % 2 != 0 || op.queries.offset % 8 != 0 || op.out.stride % 2 != 0)
    return false;
  if (op.segments.rows == 0) return true;
  gpu::AttentionArgs args = gpu::attention_args(op, launcher);
  const auto rows = static_cast<uint32_t>(op.segments.rows), count = static_cast<uint32_t>(op.segments.count);
  const uint32_t query_rows = rows * (args.query_heads / args.kv_heads);
  const uint32_t tiles = query_rows > 16 * count ? 2 : 1;
  // Each segment's last tile may be part of one.
  gpu::LaunchGrid grid{(query_rows / (16 * tiles) + count) * args.kv_heads, 1};
  const size_t partial_bytes =
      static_cast<size_t>(rows) * args.query_heads * args.splits * (args.value_size + 2) * sizeof(float);
  if (args.splits > 1 && grid.x < (tiles == 1 ? kEnoughForFew : kEnoughForMany) &&
      partial_bytes <= kMostPartialBytes) {
    args.partial = reinterpret_cast<float*>(launcher.scratch(partial_bytes));
    if (args.partial == nullptr) return true;
    grid.y = args.splits + (rows > count ? 1 : 0);  // windows of several rows can lie across one more
  }
  queue.add(kAttentionKernels[kind][tiles - 1], kAttentionThreads, grid, args,
            kAttentionShared[kind][tiles - 1]);
  if (args.partial != nullptr) gpu::launch_attention_merge(args, op.segments.rows, launcher);
  return true;
}

}  // namespace tempo9::backend::cuda
