#include "chat/jinja/text.h"

#include <algorithm>

namespace tempo9::chat::jinja {

Text Text::content(std::string bytes) {
  Text text(std::move(bytes));
  text.mark_all();
  return text;
}

void Text::mark_all() {
  marks_.clear();
  add_mark(0, bytes_.size());
}

void Text::add_mark(size_t begin, size_t end) {
  if (begin == end) return;
  if (!marks_.empty() && marks_.back().end == begin) {
    marks_.back().end = end;
  } else {
    marks_.push_back({begin, end});
  }
}

void Text::append(const Text& text, size_t begin, size_t end) {
  if (&text == this) {  // the marks would grow while they are read
    const Text copy = text;
    return append(copy, begin, end);
  }
  const size_t base = bytes_.size();
  bytes_.append(text.bytes_, begin, end - begin);
  auto mark = std::partition_point(text.marks_.begin(), text.marks_.end(),
                                   [begin](const Mark& m) { return m.end <= begin; });
  for (; mark != text.marks_.end() && mark->begin < end; ++mark) {
    add_mark(base + std::max(mark->begin, begin) - begin, base + std::min(mark->end, end) - begin);
  }
}

// By doubling, because appending many short texts is slow where each carries a mark.
Text Text::repeat(size_t count) const {
  Text all;
  if (count == 0) return all;
  all = *this;
  for (size_t done = 1; done < count;) {
    const size_t more = std::min(done, count - done);
    all.append(all, 0, more * size());
    done += more;
  }
  return all;
}

Text Text::slice(size_t begin, size_t end) const {
  Text part;
  part.append(*this, begin, end);
  part.markup_ = markup_;
  return part;
}

Text Text::derive(std::string bytes) const {
  Text text(std::move(bytes));
  if (has_content()) text.mark_all();
  text.markup_ = markup_;
  return text;
}

}  // namespace tempo9::chat::jinja
