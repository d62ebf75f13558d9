#include "backend/gpu/emulation/group.h"

#include <algorithm>
#include <array>
#include <memory>
#include <random>

#include "backend/gpu/emulation/fiber.h"

namespace tempo9::backend::gpu::emulation {
namespace {

constexpr uint32_t kLanes = 32, kSimds = kGroupThreads / kLanes;
constexpr uint32_t kOfferBytes = 16;

enum class Waits : uint8_t { kNothing, kExchange, kGroup };

// What the lanes of a SIMD group offer each other: two sets, used in turn, for a lane that goes on can be one
// exchange ahead of its neighbours.
struct Offers {
  alignas(16) std::byte sets[2][kLanes * kOfferBytes];
};

struct Thread {
  Fiber fiber;
  Ctx at{};
  Waits waits = Waits::kNothing;
  uint32_t turn = 0;
  Offers* offers = nullptr;
  class Group* group = nullptr;
};

thread_local Thread* current = nullptr;

// The fibers and memory of one group, used for one group after the other.
class Group {
 public:
  Group() {
    for (Thread& thread : threads_) thread.group = this;
  }
  Status run(Kernel kernel, const void* args, Grid at, Order order);
  void run_body(const Ctx& c) { kernel_(c, args_, scratch_); }

 private:
  void step(uint32_t tid);
  Status let_go_on();

  std::array<Thread, kGroupThreads> threads_;
  std::array<Offers, kSimds> offers_;
  std::array<uint32_t, kGroupThreads> sequence_{};
  alignas(64) std::byte scratch_[kScratchBytes];
  Kernel kernel_ = nullptr;
  const void* args_ = nullptr;
  uint32_t ended_ = 0;
};

void Group::step(uint32_t tid) {
  Thread& thread = threads_[tid];
  if (thread.fiber.ended() || thread.waits != Waits::kNothing) return;
  current = &thread;
  thread.fiber.resume();
  if (thread.fiber.ended()) ++ended_;
}

// Frees whoever has what it waits for.
Status Group::let_go_on() {
  uint32_t at_barrier = 0;
  for (uint32_t simd = 0; simd < kSimds; ++simd) {
    Thread* lanes = &threads_[simd * kLanes];
    uint32_t exchanging = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      exchanging += lanes[lane].waits == Waits::kExchange;
      at_barrier += lanes[lane].waits == Waits::kGroup;
    }
    if (exchanging != 0 && exchanging != kLanes)
      return fail(ErrorCode::kInternal, "an exchange is reached by {} of {} lanes", exchanging, kLanes);
    if (exchanging == kLanes)
      for (uint32_t lane = 0; lane < kLanes; ++lane) lanes[lane].waits = Waits::kNothing;
  }
  if (at_barrier == kGroupThreads) {
    for (Thread& thread : threads_) thread.waits = Waits::kNothing;
  } else if (at_barrier != 0 && at_barrier + ended_ == kGroupThreads) {
    return fail(ErrorCode::kInternal, "a barrier is reached by {} of {} threads", at_barrier, kGroupThreads);
  }
  return {};
}

Status Group::run(Kernel kernel, const void* args, Grid at, Order order) {
  kernel_ = kernel, args_ = args, ended_ = 0;
  std::memset(scratch_, 0xff, sizeof scratch_);
  for (uint32_t i = 0; i < kGroupThreads; ++i)
    sequence_[i] = order == Order::kReverse ? kGroupThreads - 1 - i : i;
  std::minstd_rand random(at.x * 7919 + at.y + 1);
  if (order == Order::kShuffled) std::shuffle(sequence_.begin(), sequence_.end(), random);
  for (const uint32_t i : sequence_) {
    Thread& thread = threads_[i];
    thread.at = {i, i % kLanes, i / kLanes, at.x, at.y};
    thread.waits = Waits::kNothing;
    thread.turn = 0;
    thread.offers = &offers_[thread.at.simd];
    current = &thread;
    thread.fiber.start(
        [](void* self) {
          auto& mine = *static_cast<Thread*>(self);
          mine.group->run_body(mine.at);
        },
        &thread);
    if (thread.fiber.ended()) ++ended_;
  }
  while (ended_ < kGroupThreads) {
    TRY(let_go_on());
    if (order == Order::kShuffled) std::shuffle(sequence_.begin(), sequence_.end(), random);
    for (const uint32_t i : sequence_) step(i);
  }
  return {};
}

}  // namespace

void wait_for_group() {
  Thread& me = *current;
  me.waits = Waits::kGroup;
  me.fiber.suspend();
}

uint32_t current_lane() {
  return current->at.lane;
}

const void* exchange_bytes(const void* offered, uint32_t bytes) {
  Thread& me = *current;
  std::byte* set = me.offers->sets[me.turn ^= 1];
  std::memcpy(set + me.at.lane * bytes, offered, bytes);
  me.waits = Waits::kExchange;
  me.fiber.suspend();
  return set;
}

Status run(Kernel kernel, Grid grid, const void* args, Order order) {
  // Stacks are kept: a launch has thousands of threads. A group that failed leaves fibers in the middle of
  // their work, and is not used again.
  static thread_local std::unique_ptr<Group> kept;
  std::unique_ptr<Group> group = kept ? std::move(kept) : std::make_unique<Group>();
  for (uint32_t y = 0; y < grid.y; ++y)
    for (uint32_t x = 0; x < grid.x; ++x) TRY(group->run(kernel, args, {x, y}, order));
  kept = std::move(group);
  return {};
}

}  // namespace tempo9::backend::gpu::emulation
