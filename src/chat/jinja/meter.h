// Counts the bytes that one rendering holds, and stops what would grow beyond a bound. One thread.
#pragma once
#include <cstddef>
#include <utility>

namespace tempo9::chat::jinja {

// Must outlive what it counts.
class Meter {
 public:
  explicit Meter(size_t limit) : limit_(limit) {}
  void add(size_t bytes) { live_ += bytes; }
  void remove(size_t bytes) { live_ -= bytes; }
  size_t live() const { return live_; }
  size_t limit() const { return limit_; }
  // What may still be added.
  size_t room() const { return live_ < limit_ ? limit_ - live_ : 0; }
  // To be asked before so many bytes are allocated; what has lived until then still does. Once it has
  // refused, whoever asked has left something out, and the rendering fails at its next step.
  bool allow(size_t bytes) {
    if (live_ > limit_ || bytes > room()) exhausted_ = true;
    return !exhausted_;
  }
  bool exhausted() const { return exhausted_; }

 private:
  size_t live_ = 0;
  const size_t limit_;
  bool exhausted_ = false;
};

// Bytes that are counted while this lives. A null meter counts nothing.
class Metered {
 public:
  // What an allocation costs beside its bytes: the allocator's header, and a shared pointer's counters.
  static constexpr size_t kOverhead = 32;

  Metered() = default;
  Metered(Meter* meter, size_t bytes) : meter_(meter), bytes_(bytes) {
    if (meter_ != nullptr) meter_->add(bytes_);
  }
  Metered(Metered&& other) noexcept
      : meter_(std::exchange(other.meter_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Metered& operator=(Metered&& other) noexcept {
    std::swap(meter_, other.meter_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Metered() {
    if (meter_ != nullptr) meter_->remove(bytes_);
  }
  void recount(size_t bytes) {
    if (meter_ == nullptr) return;
    meter_->add(bytes);
    meter_->remove(std::exchange(bytes_, bytes));
  }

 private:
  Meter* meter_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace tempo9::chat::jinja
