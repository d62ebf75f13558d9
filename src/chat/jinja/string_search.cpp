#include "chat/jinja/string_search.h"

#include <algorithm>

#include "chat/jinja/bind.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

constexpr size_t kNotFound = std::string_view::npos;

bool is_line_end(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

// Collects the pieces of a text; each is a step, so that neither their number nor their memory gets out of
// hand.
class Pieces {
 public:
  Pieces(Runtime& runtime, const Text& text) : runtime_(runtime), text_(text) {}
  Status add(size_t begin, size_t end) {
    TRY(runtime_.push(items_, runtime_.string(text_.slice(begin, end))));
    return runtime_.step();
  }
  Result<Value> take(bool reversed) {
    if (reversed) std::ranges::reverse(items_);
    return runtime_.list(std::move(items_));
  }

 private:
  Runtime& runtime_;
  const Text& text_;
  std::vector<Value> items_;
};

size_t skip_while(std::string_view text, size_t at, bool space) {
  while (at < text.size()) {
    const unicode::Character character = unicode::decode(text, at);
    if (unicode::is_space(character.value) != space) break;
    at += character.length;
  }
  return at;
}

size_t skip_back_while(std::string_view text, size_t end, bool space) {
  while (end > 0) {
    const size_t at = unicode::previous(text, end);
    if (unicode::is_space(unicode::decode(text, at).value) != space) break;
    end = at;
  }
  return end;
}

Result<Value> split_at_spaces(Runtime& runtime, const Text& text, Integer limit) {
  Pieces pieces(runtime, text);
  for (size_t at = skip_while(text.view(), 0, true); at < text.size(); --limit) {
    const size_t end = limit == 0 ? text.size() : skip_while(text.view(), at, false);
    TRY(pieces.add(at, end));
    at = skip_while(text.view(), end, true);
  }
  return pieces.take(false);
}

Result<Value> split_back_at_spaces(Runtime& runtime, const Text& text, Integer limit) {
  Pieces pieces(runtime, text);
  for (size_t end = skip_back_while(text.view(), text.size(), true); end > 0; --limit) {
    const size_t begin = limit == 0 ? 0 : skip_back_while(text.view(), end, false);
    TRY(pieces.add(begin, end));
    end = skip_back_while(text.view(), begin, true);
  }
  return pieces.take(true);
}

Result<Value> split_at(Runtime& runtime, const Text& text, std::string_view separator, Integer limit) {
  Pieces pieces(runtime, text);
  size_t at = 0;
  for (; limit != 0; --limit) {
    const size_t found = find_text(text.view(), separator, at);
    if (found == kNotFound) break;
    TRY(pieces.add(at, found));
    at = found + separator.size();
  }
  TRY(pieces.add(at, text.size()));
  return pieces.take(false);
}

Result<Value> split_back_at(Runtime& runtime, const Text& text, std::string_view separator, Integer limit) {
  TRY_ASSIGN(const Metered held, runtime.hold(text.size() + separator.size()));
  const std::string reversed(text.view().rbegin(), text.view().rend());
  const std::string needle(separator.rbegin(), separator.rend());
  Pieces pieces(runtime, text);
  size_t at = 0;  // in the reversed text
  for (; limit != 0; --limit) {
    const size_t found = find_text(reversed, needle, at);
    if (found == kNotFound) break;
    TRY(pieces.add(text.size() - found, text.size() - at));
    at = found + needle.size();
  }
  TRY(pieces.add(0, text.size() - at));
  return pieces.take(true);
}

std::vector<char32_t> sorted_characters(Runtime& runtime, std::string_view text) {
  std::vector<char32_t> set;
  set.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const unicode::Character character = unicode::decode(text, at);
    set.push_back(character.value);
    at += character.length;
  }
  std::ranges::sort(set);
  runtime.charge(set.size());
  return set;
}

}  // namespace

Result<Value> strip_text(Runtime& runtime, const Value& value, const Text* characters, bool left,
                         bool right) {
  const std::string_view text = value.view();
  std::vector<char32_t> set;
  if (characters != nullptr) TRY(runtime.reserve(characters->size() * sizeof(set[0])));
  if (characters != nullptr) set = sorted_characters(runtime, characters->view());
  const auto goes = [&](const unicode::Character& character) {
    return characters == nullptr ? unicode::is_space(character.value)
                                 : std::ranges::binary_search(set, character.value);
  };
  size_t begin = 0, end = text.size();
  while (left && begin < end) {
    const unicode::Character character = unicode::decode(text, begin);
    if (!goes(character)) break;
    begin += character.length;
  }
  while (right && end > begin) {
    const size_t at = unicode::previous(text, end);
    if (!goes(unicode::decode(text, at))) break;
    end = at;
  }
  if (begin == 0 && end == text.size()) return value;
  runtime.charge_bytes(text.size() - (end - begin));
  return runtime.string(value.text().slice(begin, end));
}

Result<Value> replace_text(Runtime& runtime, const Text& text, const Text& old, const Text& fresh,
                           Integer count) {
  Text replaced(runtime.meter());
  replaced.set_markup(text.is_markup());
  size_t at = 0;
  // An empty `old` stands in front of every character and at the end.
  for (size_t from = 0; count != 0; --count) {
    const size_t found =
        old.empty() ? (from <= text.size() ? from : kNotFound) : find_text(text.view(), old.view(), from);
    if (found == kNotFound) break;
    replaced.append(text, at, found);
    replaced.append(fresh);
    TRY(runtime.step());
    at = found + old.size();
    from = at;
    if (old.empty())
      from = found < text.size() ? found + unicode::decode(text.view(), found).length : found + 1;
  }
  replaced.append(text, at, text.size());
  return runtime.string(std::move(replaced));
}

Status for_each_line(const Text& text, bool keep_ends, const std::function<Status(size_t, size_t)>& take) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin, next = begin;
    while (next == end && end < text.size()) {
      const unicode::Character character = unicode::decode(text.view(), end);
      next = end + character.length;
      if (!is_line_end(character.value)) {
        end = next;
      } else if (character.value == '\r' && text.view().substr(next).starts_with('\n')) {
        ++next;
      }
    }
    TRY(take(begin, keep_ends ? next : end));
    begin = next;
  }
  return {};
}

Result<size_t> missing_width(Runtime& runtime, const Text& text, Integer width) {
  const auto size = static_cast<Integer>(unicode::count(text.view()));
  runtime.charge_bytes(text.size());
  if (width <= size) return 0;
  const Integer missing = std::min(width - size, Integer{limits::kMaxTemplateMemoryBytes} + 1);
  TRY(runtime.reserve(2 * static_cast<size_t>(missing)));
  return static_cast<size_t>(missing);
}

Result<Value> justify_text(Runtime& runtime, const Value& value, Integer width, const Text& fill,
                           char align) {
  TRY_ASSIGN(const size_t missing, missing_width(runtime, value.text(), width));
  if (missing == 0) return value;
  // For the filling and for the whole.
  TRY(runtime.reserve(value.text().size() + 2 * missing * fill.size()));
  // Of an odd number of spaces str.center puts the larger half to the left if the width is odd.
  const bool odd = (missing & 1) != 0 && (width & 1) != 0;
  const size_t left = align == '>' ? missing : align == '<' ? 0 : missing / 2 + (odd ? 1 : 0);
  Text justified(runtime.meter());
  justified.reserve(value.text().size() + missing * fill.size());
  justified.append(fill.repeat(left));
  justified.append(value.text());
  justified.append(fill.repeat(missing - left));
  justified.set_markup(value.text().is_markup());
  return runtime.string(std::move(justified));
}

bool is_case(std::string_view text, bool (*wanted)(char32_t), bool (*unwanted)(char32_t)) {
  bool found = false;
  for (size_t at = 0; at < text.size();) {
    const unicode::Character character = unicode::decode(text, at);
    if (unwanted(character.value) || unicode::is_title(character.value)) return false;
    found |= wanted(character.value);
    at += character.length;
  }
  return found;
}

Result<SearchWindow> search_window(Runtime& runtime, const Text& text, const Value* start, const Value* end) {
  runtime.charge_bytes(text.size());
  TRY(runtime.reserve(2 * text.size()));  // what find_last may need
  SearchWindow window{text.view()};
  const bool bounded = (start != nullptr && !start->is_none()) || (end != nullptr && !end->is_none());
  if (!bounded) return window;
  const auto size = static_cast<Integer>(unicode::count(text.view()));
  const auto read = [size](const Value* bound, Integer otherwise) -> Result<Integer> {
    if (bound == nullptr || bound->is_none()) return otherwise;
    TRY_ASSIGN(Integer index, integer_argument(*bound));
    if (index < 0) index = index < -size ? Integer{0} : index + size;
    return index;
  };
  TRY_ASSIGN(const Integer from, read(start, 0));
  TRY_ASSIGN(Integer to, read(end, size));
  to = std::min(to, size);
  window.valid = from <= to;
  if (!window.valid) return window;
  window.begin = unicode::offset(text.view(), static_cast<size_t>(from));
  const size_t bytes = unicode::offset(text.view().substr(window.begin), static_cast<size_t>(to - from));
  window.text = text.view().substr(window.begin, bytes);
  return window;
}

size_t find_last(std::string_view text, std::string_view needle) {
  constexpr size_t kShortNeedle = 32;  // for these the plain search is linear enough
  if (needle.size() <= kShortNeedle) return text.rfind(needle);
  const std::string reversed_text(text.rbegin(), text.rend()),
      reversed_needle(needle.rbegin(), needle.rend());
  const size_t found = find_text(reversed_text, reversed_needle, 0);
  return found == kNotFound ? kNotFound : text.size() - found - needle.size();
}

template <bool last>
Result<Value> partition(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "partition", {""}, 1));
  TRY_ASSIGN(const Text* separator, text_argument(*bound[0]));
  if (separator->empty()) return fail(ErrorCode::kInvalidArgument, "empty separator");
  const Text& text = self.text();
  runtime.charge_bytes(text.size());
  TRY(runtime.reserve(2 * text.size()));
  const size_t found =
      last ? find_last(text.view(), separator->view()) : find_text(text.view(), separator->view(), 0);
  if (found == kNotFound) {
    const Value empty = runtime.string("");
    return last ? runtime.tuple({empty, empty, self}) : runtime.tuple({self, empty, empty});
  }
  const size_t behind = found + separator->size();
  return runtime.tuple(
      {runtime.string(text.slice(0, found)), *bound[0], runtime.string(text.slice(behind, text.size()))});
}
template Result<Value> partition<false>(Runtime&, const Value&, const Arguments&);
template Result<Value> partition<true>(Runtime&, const Value&, const Arguments&);

template <bool from_right>
Result<Value> split(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "split", {"sep", "maxsplit"}));
  Integer limit = -1;
  if (bound.has(1)) {
    TRY_ASSIGN(limit, integer_argument(*bound[1]));
  }
  const Text& text = self.text();
  runtime.charge_bytes(text.size());
  if (!bound.is_set(0)) {
    return from_right ? split_back_at_spaces(runtime, text, limit) : split_at_spaces(runtime, text, limit);
  }
  TRY_ASSIGN(const Text* separator, text_argument(*bound[0]));
  if (separator->empty()) return fail(ErrorCode::kInvalidArgument, "empty separator");
  return from_right ? split_back_at(runtime, text, separator->view(), limit)
                    : split_at(runtime, text, separator->view(), limit);
}
template Result<Value> split<false>(Runtime&, const Value&, const Arguments&);
template Result<Value> split<true>(Runtime&, const Value&, const Arguments&);

Result<Value> split_lines(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "splitlines", {"keepends"}));
  Pieces lines(runtime, self.text());
  TRY(for_each_line(self.text(), bound.truthy(0, false),
                    [&lines](size_t begin, size_t end) { return lines.add(begin, end); }));
  return lines.take(false);
}

Result<Value> expand_tabs(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "expandtabs", {"tabsize"}));
  Integer tab = 8;
  if (bound.has(0)) {
    TRY_ASSIGN(tab, integer_argument(*bound[0]));
  }
  TRY(runtime.reserve(2 * static_cast<size_t>(std::clamp(tab, Integer{0}, Integer{1} << 40))));
  const Text& text = self.text();
  Text expanded(runtime.meter());
  Integer column = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t length = unicode::decode(text.view(), at).length;
    const char c = text.bytes()[at];
    if (c == '\t') {
      const Integer spaces = tab > 0 ? tab - column % tab : 0;
      column += spaces;
      TRY(runtime.reserve(2 * static_cast<size_t>(spaces)));
      expanded.append(text.slice(at, at + 1).derive(std::string(static_cast<size_t>(spaces), ' ')));
    } else {
      column = c == '\n' || c == '\r' ? 0 : column + 1;
      expanded.append(text, at, at + length);
    }
    at += length;
  }
  expanded.set_markup(text.is_markup());
  return runtime.string(std::move(expanded));
}

}  // namespace tempo9::chat::jinja
