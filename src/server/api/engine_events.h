// From the engine's thread to the session's turns: the events of several of the engine's requests that one
// answer is made of.
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace tempo9::server {

class EngineEvents {
 public:
  using Events = std::vector<std::pair<size_t, engine::Event>>;  // each with the number of its request

  // From any thread. True: nobody has been asked to take() yet, so a turn that does is to be posted.
  bool put(size_t number, engine::Event event) {
    const std::lock_guard lock(mutex_);
    events_.emplace_back(number, std::move(event));
    return !std::exchange(awaited_, true);
  }
  // All that has come since the last time.
  Events take() {
    const std::lock_guard lock(mutex_);
    awaited_ = false;
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  Events events_;         // under mutex_
  bool awaited_ = false;  // under mutex_: a turn will take them
};

// Hands one request's events to its owner's receive(number, event), and keeps the owner until they end.
template <class Owner>
class NumberedSink final : public engine::EventSink {
 public:
  NumberedSink(std::shared_ptr<Owner> owner, size_t number) : owner_(std::move(owner)), number_(number) {}
  void on_event(engine::Event event) noexcept override { owner_->receive(number_, std::move(event)); }

 private:
  const std::shared_ptr<Owner> owner_;
  const size_t number_;
};

}  // namespace tempo9::server
