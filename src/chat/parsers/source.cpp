#include "chat/parsers/source.h"

#include "base/check.h"

namespace tempo9::chat {

void Source::run(Reading<bool> parser) {
  std::swap(parser_.handle_, parser.handle_);
  parser_.handle_.promise().source = this;
  current_ = parser_.handle_;
  resume();
}

void Source::feed(std::string_view text) {
  if (ended_ || text.empty()) return;
  if (at_ > 2 * kKept) {
    text_.erase(0, at_ - kKept);
    at_ = kKept;
  }
  text_ += text;
  resume();
}

void Source::finish(bool cut) {
  finished_ = true;
  cut_ = cut;
  resume();
}

// One coroutine at a time; which is the next, the one that stops has said. So no depth of parsers takes
// stack.
void Source::resume() {
  waiting_ = false;
  while (!waiting_ && !ended_) current_.resume();
}

void Source::take() {
  if (at_ == text_.size()) return;
  taken_ += text_[at_++];
}

void Source::give_back(size_t count) {
  CHECK(count <= at_ && count <= taken_.size());
  at_ -= count;
  taken_.resize(taken_.size() - count);
}

}  // namespace tempo9::chat
