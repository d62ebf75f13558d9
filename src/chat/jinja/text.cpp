#include "chat/jinja/text.h"

#include <algorithm>

namespace tempo9::chat::jinja {
namespace {

// Of a string that keeps its bytes within itself there is nothing to count.
size_t heap_bytes(const std::string& text) {
  static const size_t within = std::string().capacity();
  return text.capacity() > within ? text.capacity() + 1 : 0;
}

}  // namespace

Text Text::content(std::string bytes) {
  Text text(std::move(bytes));
  text.mark_all();
  return text;
}

Text::Text(const Text& other) : meter_(other.meter_), markup_(other.markup_) {
  append(other);
}

Text::Text(Text&& other) noexcept
    : bytes_(std::move(other.bytes_)),
      marks_(std::move(other.marks_)),
      meter_(other.meter_),
      counted_(std::exchange(other.counted_, 0)),
      markup_(other.markup_) {
  other.bytes_.clear();
  other.marks_.clear();
}

Text& Text::operator=(Text other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(marks_, other.marks_);
  std::swap(meter_, other.meter_);
  std::swap(counted_, other.counted_);
  std::swap(markup_, other.markup_);
  return *this;
}

Text::~Text() {
  if (meter_ != nullptr) meter_->remove(counted_);
}

Text Text::counted_by(Meter* meter) && {
  if (meter_ != nullptr) meter_->remove(std::exchange(counted_, 0));
  meter_ = meter;
  recount();
  return std::move(*this);
}

void Text::recount() {
  if (meter_ == nullptr) return;
  const size_t now = heap_bytes(bytes_) + marks_.capacity() * sizeof(Mark);
  meter_->add(now);
  meter_->remove(std::exchange(counted_, now));
}

// Room for so many bytes in all; `for_more`: with some to spare, where there is memory for it. std::string
// would take twice its size in any case.
bool Text::make_room(size_t bytes, bool for_more) {
  if (bytes <= bytes_.capacity()) return true;
  size_t capacity = bytes;
  if (for_more) {
    const size_t spare = bytes_.capacity() + bytes_.capacity() / 2;
    capacity = std::max(bytes, meter_ == nullptr ? spare : std::min(spare, meter_->room()));
  }
  if (meter_ != nullptr && !meter_->allow(capacity)) return false;
  std::string grown;
  grown.reserve(capacity);
  grown.append(bytes_);
  bytes_ = std::move(grown);
  recount();
  return true;
}

bool Text::make_room_for_mark() {
  if (marks_.size() < marks_.capacity()) return true;
  const size_t capacity = marks_.empty() ? 1 : 2 * marks_.size();
  if (meter_ != nullptr && !meter_->allow(capacity * sizeof(Mark))) return false;
  marks_.reserve(capacity);
  recount();
  return true;
}

void Text::mark_all() {
  marks_.clear();
  add_mark(0, bytes_.size());
}

void Text::add_mark(size_t begin, size_t end) {
  if (begin == end) return;
  if (!marks_.empty() && marks_.back().end == begin) {
    marks_.back().end = end;
  } else if (make_room_for_mark()) {
    marks_.push_back({begin, end});
  }
}

void Text::append(std::string_view literal) {
  if (make_room(size() + literal.size(), true)) bytes_.append(literal);
}

// `text` may be this one.
void Text::append(const Text& text, size_t begin, size_t end) {
  const size_t base = bytes_.size();
  if (!make_room(base + end - begin, base != 0)) return;
  bytes_.append(text.bytes_, begin, end - begin);
  const auto first = std::partition_point(text.marks_.begin(), text.marks_.end(),
                                          [begin](const Mark& m) { return m.end <= begin; });
  const size_t count = text.marks_.size();
  for (auto i = static_cast<size_t>(first - text.marks_.begin()); i < count; ++i) {
    const Mark mark = text.marks_[i];
    if (mark.begin >= end) break;
    add_mark(base + std::max(mark.begin, begin) - begin, base + std::min(mark.end, end) - begin);
  }
}

// By doubling, because appending many short texts is slow where each carries a mark.
Text Text::repeat(size_t count) const {
  Text all(meter_);
  if (count == 0 || !all.make_room(count * size(), false)) return all;
  all.append(*this);
  for (size_t done = 1; done < count;) {
    const size_t more = std::min(done, count - done);
    all.append(all, 0, more * size());
    done += more;
  }
  all.markup_ = markup_;
  return all;
}

Text Text::slice(size_t begin, size_t end) const {
  Text part(meter_);
  part.append(*this, begin, end);
  part.markup_ = markup_;
  return part;
}

Text Text::derive(std::string bytes) const {
  Text text(std::move(bytes));
  if (has_content()) text.mark_all();
  text.markup_ = markup_;
  return std::move(text).counted_by(meter_);
}

}  // namespace tempo9::chat::jinja
