// What one rendering may use up, and what it owns: counted steps, counted memory, and the objects whose
// references may form circles. One thread.
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

// An object that may come to refer to itself; cleared when the rendering ends.
class Clearable {
 public:
  virtual ~Clearable() = default;
  virtual void clear() = 0;
};

class Runtime {
 public:
  explicit Runtime(size_t max_steps = limits::kMaxTemplateSteps,
                   size_t max_memory_bytes = limits::kMaxTemplateMemoryBytes)
      : meter_(max_memory_bytes), max_steps_(max_steps), now_(std::chrono::system_clock::now()) {}
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // One step of evaluation; fails when steps or memory are used up.
  Status step();
  // Work without a place to fail: the next step() fails if it was too much. Every single piece of work is
  // bounded by the memory limit.
  void charge(size_t steps) { steps_ += steps; }
  void charge_bytes(size_t bytes) { steps_ += bytes / kBytesPerStep; }
  // To be asked before allocating what no meter counts, or what is counted only when it is there.
  Status reserve(size_t bytes);
  // Memory that is counted while the result lives.
  Result<Metered> hold(size_t bytes);
  // Appends to items under construction, if their growth has room.
  template <class T>
  Status push(std::vector<T>& items, std::type_identity_t<T> item) {
    if (items.size() == items.capacity()) {
      const size_t capacity = items.empty() ? 4 : 2 * items.size();
      TRY(reserve((items.size() + capacity) * sizeof(T)));
      items.reserve(capacity);
    }
    items.push_back(std::move(item));
    return {};
  }

  Value string(Text text);
  Value string(std::string_view literal) { return string(Text(literal)); }
  // These fail on a value too deep or, with everything it refers to, too large.
  Result<Value> list(std::vector<Value> items);
  Result<Value> tuple(std::vector<Value> items);
  Result<Value> group(Value key, Value items);
  Result<Value> dict(std::vector<Dict::Entry> entries);
  Value undefined(std::string reason);

  // Calls T(meter, args…).
  template <class T, class... Args>
  std::shared_ptr<T> make_clearable(Args&&... args) {
    auto object = std::make_shared<T>(&meter_, std::forward<Args>(args)...);
    keep(object);
    return object;
  }
  void keep(std::shared_ptr<Clearable> object) {
    clearables_.push_back(std::move(object));
    meter_.add(sizeof(clearables_.front()));
  }

  Meter* meter() { return &meter_; }
  std::chrono::system_clock::time_point now() const { return now_; }

 private:
  // Walking over so many bytes takes about as long as a step, decoding and searching included.
  static constexpr size_t kBytesPerStep = 16;
  Result<Value> check_size(Value value) const;
  Meter meter_;
  size_t steps_ = 0, max_steps_;
  std::chrono::system_clock::time_point now_;
  std::deque<std::shared_ptr<Clearable>> clearables_;
};

}  // namespace tempo9::chat::jinja
