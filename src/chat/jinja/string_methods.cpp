#include <algorithm>

#include "chat/jinja/bind.h"
#include "chat/jinja/format.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/markup.h"
#include "chat/jinja/methods.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/string_search.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

using Mapping = std::string (*)(std::string_view);
constexpr size_t kMappingCost = 4;  // of a byte, in bytes walked over: each character is looked up
constexpr size_t kMappingGrowth =
    8;  // bytes that one may need while the result, up to three times as long, grows

template <Mapping map>
Result<Value> mapped(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY(bind(arguments, "this method", {}));
  runtime.charge_bytes(kMappingCost * self.text().size());
  TRY(runtime.reserve(kMappingGrowth * self.text().size()));
  return runtime.string(self.text().derive(map(self.view())));
}

using Predicate = bool (*)(char32_t);

// True for a text that is not empty and whose characters all fulfil the predicate.
template <Predicate predicate>
Result<Value> all_characters(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY(bind(arguments, "this method", {}));
  runtime.charge_bytes(self.text().size());
  const std::string_view text = self.view();
  for (size_t at = 0; at < text.size();) {
    const unicode::Character character = unicode::decode(text, at);
    if (!predicate(character.value)) return false;
    at += character.length;
  }
  return !text.empty();
}

// str.islower and str.isupper: a letter of that case, and none of another.
template <Predicate wanted, Predicate unwanted>
Result<Value> has_case(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY(bind(arguments, "this method", {}));
  runtime.charge_bytes(self.text().size());
  return is_case(self.view(), wanted, unwanted);
}

Result<Value> is_ascii(Runtime&, const Value& self, const Arguments& arguments) {
  TRY(bind(arguments, "isascii", {}));
  return std::ranges::all_of(self.view(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// str.istitle: words begin with an upper-case letter and go on in lower case.
Result<Value> is_title(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY(bind(arguments, "istitle", {}));
  runtime.charge_bytes(self.text().size());
  const std::string_view text = self.view();
  bool within_word = false, found = false;
  for (size_t at = 0; at < text.size();) {
    const unicode::Character character = unicode::decode(text, at);
    const bool upper = unicode::is_upper(character.value) || unicode::is_title(character.value);
    const bool lower = unicode::is_lower(character.value);
    if ((upper && within_word) || (lower && !within_word)) return false;
    found |= upper || lower;
    within_word = upper || lower;
    at += character.length;
  }
  return found;
}

bool is_alphanumeric(char32_t c) {
  return unicode::is_alphabetic(c) || unicode::is_numeric(c);
}

template <bool left, bool right>
Result<Value> strip(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "strip", {""}));
  const Text* characters = nullptr;
  if (bound.is_set(0)) {
    TRY_ASSIGN(characters, text_argument(*bound[0]));
  }
  return strip_text(runtime, self, characters, left, right);
}

Result<Value> replace(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "replace", {"", "", ""}, 2));
  TRY_ASSIGN(const Text* old, text_argument(*bound[0]));
  TRY_ASSIGN(const Text* fresh, text_argument(*bound[1]));
  Integer count = -1;
  if (bound.has(2)) {
    TRY_ASSIGN(count, integer_argument(*bound[2]));
  }
  if (!self.text().is_markup()) return replace_text(runtime, self.text(), *old, *fresh, count);
  return replace_text(runtime, self.text(), escape_html(runtime, *old), escape_html(runtime, *fresh), count);
}

Result<Value> join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "join", {""}, 1));
  TRY_ASSIGN(Cursor cursor, Cursor::over(*bound[0]));
  const bool markup = self.text().is_markup();
  Text joined(runtime.meter());
  for (size_t i = 0;; ++i) {
    TRY_ASSIGN(const std::optional<Value> item, cursor.next(runtime));
    if (!item) break;
    if (!item->is_string()) {
      return fail(ErrorCode::kInvalidArgument, "sequence item {}: expected str instance, {} found", i,
                  item->type_name());
    }
    if (i != 0) joined.append(self.text());
    if (markup)
      joined.append(escape_html(runtime, item->text()));
    else
      joined.append(item->text());
  }
  joined.set_markup(markup);
  return runtime.string(std::move(joined));
}

// startswith and endswith: one text or a tuple of them, looked for in [start, end).
template <bool at_end>
Result<Value> has_affix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, at_end ? "endswith" : "startswith", {"", "", ""}, 1));
  TRY_ASSIGN(const SearchWindow window, search_window(runtime, self.text(), bound[1], bound[2]));
  const auto matches = [&](const Value& affix) -> Result<bool> {
    TRY_ASSIGN(const Text* text, text_argument(affix));
    if (!window.valid) return false;
    return at_end ? window.text.ends_with(text->view()) : window.text.starts_with(text->view());
  };
  if (!bound[0]->is(Kind::kTuple)) {
    TRY_ASSIGN(const bool matched, matches(*bound[0]));
    return matched;
  }
  for (const Value& affix : bound[0]->items()) {
    TRY_ASSIGN(const bool matched, matches(affix));
    if (matched) return true;
  }
  return false;
}

template <bool prefix>
Result<Value> remove_affix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, prefix ? "removeprefix" : "removesuffix", {""}, 1));
  TRY_ASSIGN(const Text* affix, text_argument(*bound[0]));
  const Text& text = self.text();
  if (prefix && text.view().starts_with(affix->view())) {
    return runtime.string(text.slice(affix->size(), text.size()));
  }
  if (!prefix && text.view().ends_with(affix->view())) {
    return runtime.string(text.slice(0, text.size() - affix->size()));
  }
  return self;
}

// find, rfind, index and rindex: a character index.
template <bool last, bool must_exist>
Result<Value> find(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, must_exist ? "index" : "find", {"", "", ""}, 1));
  TRY_ASSIGN(const Text* needle, text_argument(*bound[0]));
  TRY_ASSIGN(const SearchWindow window, search_window(runtime, self.text(), bound[1], bound[2]));
  size_t at = std::string_view::npos;
  if (window.valid)
    at = last ? find_last(window.text, needle->view()) : find_text(window.text, needle->view(), 0);
  if (at != std::string_view::npos) {
    return static_cast<Integer>(unicode::count(self.view().substr(0, window.begin + at)));
  }
  if (must_exist) return fail(ErrorCode::kInvalidArgument, "substring not found");
  return Integer{-1};
}

Result<Value> count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "count", {"", "", ""}, 1));
  TRY_ASSIGN(const Text* needle, text_argument(*bound[0]));
  TRY_ASSIGN(const SearchWindow window, search_window(runtime, self.text(), bound[1], bound[2]));
  if (!window.valid) return Integer{0};
  if (needle->empty()) return static_cast<Integer>(unicode::count(window.text)) + 1;
  Integer found = 0;
  for (size_t at = 0; (at = find_text(window.text, needle->view(), at)) != std::string_view::npos;
       at += needle->size()) {
    ++found;
  }
  return found;
}

Result<Value> fill_with_zeros(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "zfill", {""}, 1));
  TRY_ASSIGN(const Integer width, integer_argument(*bound[0]));
  const Text& text = self.text();
  const bool has_sign = text.view().starts_with('-') || text.view().starts_with('+');
  TRY_ASSIGN(const size_t missing, missing_width(runtime, text, width));
  Text filled(runtime.meter());
  filled.reserve(text.size() + missing);
  filled.append(text, 0, has_sign ? 1 : 0);
  filled.append(Text("0").repeat(missing));
  filled.append(text, has_sign ? 1 : 0, text.size());
  filled.set_markup(text.is_markup());
  return runtime.string(std::move(filled));
}

// ljust, rjust and center.
template <char align>
Result<Value> justify(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "this method", {"", ""}, 1));
  TRY_ASSIGN(const Integer width, integer_argument(*bound[0]));
  const Text space(" ");
  const Text* fill = &space;
  if (bound.has(1)) {
    TRY_ASSIGN(fill, text_argument(*bound[1]));
    if (unicode::count(fill->view()) != 1) {
      return fail(ErrorCode::kInvalidArgument, "The fill character must be exactly one character long");
    }
  }
  return justify_text(runtime, self, width, *fill, align);
}

Result<Value> format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(Text text, format_braces(runtime, self.text(), arguments));
  return runtime.string(std::move(text));
}

constexpr Method kStringMethods[] = {
    {"capitalize", mapped<unicode::capitalize>},
    {"center", justify<'^'>},
    {"count", count},
    {"endswith", has_affix<true>},
    {"expandtabs", expand_tabs},
    {"find", find<false, false>},
    {"format", format},
    {"index", find<false, true>},
    {"isalnum", all_characters<is_alphanumeric>},
    {"isalpha", all_characters<unicode::is_alphabetic>},
    {"isascii", is_ascii},
    {"isdecimal", all_characters<unicode::is_decimal>},
    {"isdigit", all_characters<unicode::is_digit>},
    {"islower", has_case<unicode::is_lower, unicode::is_upper>},
    {"isnumeric", all_characters<unicode::is_numeric>},
    {"isspace", all_characters<unicode::is_space>},
    {"istitle", is_title},
    {"isupper", has_case<unicode::is_upper, unicode::is_lower>},
    {"join", join},
    {"ljust", justify<'<'>},
    {"lower", mapped<unicode::lower>},
    {"lstrip", strip<true, false>},
    {"partition", partition<false>},
    {"removeprefix", remove_affix<true>},
    {"removesuffix", remove_affix<false>},
    {"replace", replace},
    {"rfind", find<true, false>},
    {"rindex", find<true, true>},
    {"rjust", justify<'>'>},
    {"rpartition", partition<true>},
    {"rsplit", split<true>},
    {"rstrip", strip<false, true>},
    {"split", split<false>},
    {"splitlines", split_lines},
    {"startswith", has_affix<false>},
    {"strip", strip<true, true>},
    {"swapcase", mapped<unicode::swap_case>},
    {"title", mapped<unicode::title>},
    {"upper", mapped<unicode::upper>},
    {"zfill", fill_with_zeros},
};

}  // namespace

std::span<const Method> string_methods() {
  return kStringMethods;
}

}  // namespace tempo9::chat::jinja
