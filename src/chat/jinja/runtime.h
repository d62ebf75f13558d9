// What one rendering may use up, and what it owns: counted steps, counted memory, and the objects whose
// references may form circles. One thread.
#pragma once
#include <chrono>
#include <memory>
#include <string_view>
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
  explicit Runtime(size_t max_steps = limits::kMaxTemplateSteps)
      : max_steps_(max_steps), now_(std::chrono::system_clock::now()) {}
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // One step of evaluation; fails when steps or memory are used up.
  Status step();
  // Work without a place to fail: the next step() fails if it was too much. Every single piece of work is
  // bounded by the memory limit.
  void charge(size_t steps) { steps_ += steps; }
  void charge_bytes(size_t bytes) { steps_ += bytes / kBytesPerStep; }
  // To be asked before building something that may be larger than all its inputs.
  Status reserve(size_t bytes);

  Value string(Text text);
  Value string(std::string_view literal) { return string(Text(literal)); }
  // These fail on a value too deep or, with everything it refers to, too large.
  Result<Value> list(std::vector<Value> items);
  Result<Value> tuple(std::vector<Value> items);
  Result<Value> group(Value key, Value items);
  Result<Value> dict(std::vector<Dict::Entry> entries);
  static Value undefined(std::string reason);

  template <class T, class... Args>
  std::shared_ptr<T> make_clearable(Args&&... args) {
    auto object = std::make_shared<T>(std::forward<Args>(args)...);
    keep(object);
    return object;
  }
  void keep(std::shared_ptr<Clearable> object) { clearables_.push_back(std::move(object)); }

  Meter* meter() { return &meter_; }
  std::chrono::system_clock::time_point now() const { return now_; }

 private:
  // Walking over so many bytes takes about as long as a step, decoding and searching included.
  static constexpr size_t kBytesPerStep = 16;
  static Result<Value> check_size(Value value);
  Meter meter_;
  size_t steps_ = 0, max_steps_;
  std::chrono::system_clock::time_point now_;
  std::vector<std::shared_ptr<Clearable>> clearables_;
};

}  // namespace tempo9::chat::jinja
