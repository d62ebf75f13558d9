#include "grammar/code_points.h"

#include <fmt/format.h>

#include <algorithm>

namespace tempo9::grammar {
namespace {

constexpr char32_t kLast = 0x10FFFF, kFirstSurrogate = 0xD800, kLastSurrogate = 0xDFFF;

// Letters and digits as they are, everything else by number: nothing in a class needs its own escape then.
// Eight digits, because XGrammar's \x goes on for as long as there are digits.
void append(std::string& out, char32_t code_point) {
  const bool plain = (code_point >= '0' && code_point <= '9') || (code_point >= 'a' && code_point <= 'z') ||
                     (code_point >= 'A' && code_point <= 'Z');
  if (plain)
    out += static_cast<char>(code_point);
  else
    fmt::format_to(std::back_inserter(out), "\\U{:08X}", static_cast<uint32_t>(code_point));
}

}  // namespace

CodePointSet::CodePointSet(std::initializer_list<CodePointRange> ranges) {
  for (const CodePointRange range : ranges) add(range);
}

void CodePointSet::add(CodePointRange range) {
  if (range.first > range.last) return;
  if (range.first <= kLastSurrogate && range.last >= kFirstSurrogate) {
    if (range.first < kFirstSurrogate) add({range.first, kFirstSurrogate - 1});
    if (range.last > kLastSurrogate) add({kLastSurrogate + 1, range.last});
    return;
  }
  // All that overlap or touch become one.
  const auto begin = std::find_if(ranges_.begin(), ranges_.end(),
                                  [&](const CodePointRange& r) { return r.last + 1 >= range.first; });
  const auto end =
      std::find_if(begin, ranges_.end(), [&](const CodePointRange& r) { return r.first > range.last + 1; });
  if (begin != end) {
    range.first = std::min(range.first, begin->first);
    range.last = std::max(range.last, std::prev(end)->last);
  }
  ranges_.insert(ranges_.erase(begin, end), range);
}

void CodePointSet::add(const CodePointSet& other) {
  for (const CodePointRange range : other.ranges_) add(range);
}

CodePointSet CodePointSet::complement() const {
  CodePointSet result;
  char32_t next = 0;
  for (const CodePointRange range : ranges_) {
    if (range.first > next) result.add({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLast) result.add({next, kLast});
  return result;
}

CodePointSet CodePointSet::intersect(const CodePointSet& other) const {
  CodePointSet result;
  for (size_t i = 0, j = 0; i < ranges_.size() && j < other.ranges_.size();) {
    const CodePointRange a = ranges_[i], b = other.ranges_[j];
    result.add({std::max(a.first, b.first), std::min(a.last, b.last)});
    ++(a.last < b.last ? i : j);
  }
  return result;
}

bool CodePointSet::contains(char32_t code_point) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const CodePointRange& range) {
    return range.first <= code_point && code_point <= range.last;
  });
}

std::string CodePointSet::to_class() const {
  std::string out = "[";
  for (const CodePointRange range : ranges_) {
    append(out, range.first);
    if (range.last == range.first) continue;
    out += '-';
    append(out, range.last);
  }
  return out + "]";
}

}  // namespace tempo9::grammar
