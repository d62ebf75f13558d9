// A function with a stack of its own, which can stop in the middle and be gone on with.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <memory>

namespace tempo9::backend::gpu::emulation {

// Keeps its stack from one function to the next. Belongs to the host thread that first starts it. One that is
// destroyed in the middle of its function leaves what that holds as it is.
class Fiber {
 public:
  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs `body(argument)` until it first calls suspend() or ends.
  void start(void (*body)(void*), void* argument);
  // Goes on after suspend().
  void resume();
  // From inside: back to whoever called start() or resume().
  void suspend();
  bool ended() const { return ended_; }

 private:
  // Where a side of the switch goes on.
  struct Side {
    ucontext_t context;
    jmp_buf place;
  };
  static void enter(unsigned high, unsigned low);
  static void change(Side& from, Side& to, bool first);

  static constexpr size_t kStackBytes = 64 << 10;
  std::unique_ptr<std::byte[]> stack_;
  Side caller_, fiber_;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool entered_ = false, ended_ = true;
};

}  // namespace tempo9::backend::gpu::emulation
