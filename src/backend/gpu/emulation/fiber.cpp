#include "backend/gpu/emulation/fiber.h"

#include <cstdint>

namespace tempo9::backend::gpu::emulation {

Fiber::Fiber() : stack_(new std::byte[kStackBytes]) {}

// swapcontext saves signal masks, which takes two calls of the system: twenty times what the rest costs. So
// only the first switch to a fiber goes that way; the others jump. The address sanitizer follows swapcontext
// alone.
void Fiber::change(Side& from, Side& to, [[maybe_unused]] bool first) {
#if defined(__SANITIZE_ADDRESS__)
  ::swapcontext(&from.context, &to.context);
#else
  if (_setjmp(from.place) != 0) return;
  if (first) ::setcontext(&to.context);
  _longjmp(to.place, 1);
#endif
}

void Fiber::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fiber*>(static_cast<uintptr_t>(high) << 32 | low);
  for (;;) {
    self->body_(self->argument_);
    self->ended_ = true;
    self->suspend();  // until the next start()
  }
}

void Fiber::start(void (*body)(void*), void* argument) {
  body_ = body;
  argument_ = argument;
  ended_ = false;
  const bool first = !entered_;
  if (first) {
    entered_ = true;
    ::getcontext(&fiber_.context);
    fiber_.context.uc_stack.ss_sp = stack_.get();
    fiber_.context.uc_stack.ss_size = kStackBytes;
    fiber_.context.uc_link = nullptr;
    const auto address = reinterpret_cast<uintptr_t>(this);
    ::makecontext(&fiber_.context, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
                  static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  }
  change(caller_, fiber_, first);
}

void Fiber::resume() {
  change(caller_, fiber_, false);
}

void Fiber::suspend() {
  change(fiber_, caller_, false);
}

}  // namespace tempo9::backend::gpu::emulation
