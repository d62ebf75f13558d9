#include "text/composition.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "text/utf8.h"

namespace tempo9::text {
namespace {

// Characters below U+0300, whose first byte is below CC, are in form C and join with nothing before them.
bool may_change(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) >= 0xCC; });
}

int combining_class(utf8proc_int32_t character) {
  return utf8proc_get_property(character)->combining_class;
}

void append_decomposed(utf8proc_int32_t character, std::vector<utf8proc_int32_t>& decomposed) {
  constexpr utf8proc_ssize_t kLongest = 18;  // of any character's canonical decomposition it is 4
  utf8proc_int32_t parts[kLongest];
  int boundary = 0;
  const auto count =
      utf8proc_decompose_char(character, parts, kLongest,
                              static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE), &boundary);
  CHECK(count > 0 && count <= kLongest);
  decomposed.insert(decomposed.end(), parts, parts + count);
}

// The canonical order of marks: each run of them by combining class. (utf8proc's own sort takes quadratic
// time.)
void order_marks(std::vector<utf8proc_int32_t>& characters) {
  const auto is_mark = [](utf8proc_int32_t c) { return combining_class(c) != 0; };
  auto begin = characters.begin();
  while ((begin = std::find_if(begin, characters.end(), is_mark)) != characters.end()) {
    const auto end = std::find_if_not(begin, characters.end(), is_mark);
    std::stable_sort(begin, end, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

void append_composed(std::string_view valid, std::string& out) {
  std::vector<utf8proc_int32_t> characters;
  characters.reserve(valid.size());
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(valid.data());
  for (size_t at = 0; at < valid.size();) {
    utf8proc_int32_t character = 0;
    const auto length =
        utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(valid.size() - at), &character);
    CHECK(length > 0);
    append_decomposed(character, characters);
    at += static_cast<size_t>(length);
  }
  order_marks(characters);
  const auto count =
      utf8proc_normalize_utf32(characters.data(), static_cast<utf8proc_ssize_t>(characters.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    utf8proc_uint8_t encoded[4];
    const auto length = utf8proc_encode_char(characters[static_cast<size_t>(i)], encoded);
    out.append(reinterpret_cast<const char*>(encoded), static_cast<size_t>(length));
  }
}

}  // namespace

std::string compose(std::string_view text) {
  if (!may_change(text)) return std::string(text);
  std::string composed;
  composed.reserve(text.size());
  while (!text.empty()) {
    const size_t valid = valid_prefix(text);
    const std::string_view run = text.substr(0, valid);
    if (may_change(run)) {
      append_composed(run, composed);
    } else {
      composed += run;
    }
    text.remove_prefix(valid);
    if (text.empty()) break;
    const auto bad = static_cast<size_t>(first_character(text).bytes);
    composed += text.substr(0, bad);
    text.remove_prefix(bad);
  }
  return composed;
}

}  // namespace tempo9::text
