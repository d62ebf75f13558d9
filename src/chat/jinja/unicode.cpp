#include "chat/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "chat/jinja/special_casing.h"

namespace tempo9::chat::jinja::unicode {
namespace {

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

utf8proc_category_t category(char32_t character) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

bool is_cased(char32_t character) {
  return is_lower(character) || is_upper(character) || category(character) == UTF8PROC_CATEGORY_LT;
}

// Characters that do not end a word when a final sigma is looked for.
bool is_case_ignorable(char32_t character) {
  static constexpr char32_t kMidWord[] = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,
                                          0x5F4,  0x2018, 0x2019, 0x2024, 0x2027, 0xFE13,
                                          0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
  if (std::ranges::find(kMidWord, character) != std::end(kMidWord)) return true;
  switch (category(character)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return false;
  }
}

// Whether the sigma at [at, at + 2) ends a word: a letter stands before it and none behind.
bool is_final_sigma(std::string_view text, size_t at) {
  size_t before = at;
  bool letter_before = false;
  while (before > 0) {
    before = previous(text, before);
    const char32_t character = decode(text, before).value;
    if (is_case_ignorable(character)) continue;
    letter_before = is_cased(character);
    break;
  }
  if (!letter_before) return false;
  for (size_t after = at + 2; after < text.size();) {
    const Character character = decode(text, after);
    if (!is_case_ignorable(character.value)) return !is_cased(character.value);
    after += character.length;
  }
  return true;
}

const SpecialCasing* find_special(char32_t character) {
  const auto* found = std::ranges::lower_bound(kSpecialCasing, character, {}, &SpecialCasing::character);
  return found != std::end(kSpecialCasing) && found->character == character ? found : nullptr;
}

void append_all(std::string& text, const char32_t* characters) {
  for (; *characters != 0; ++characters) append(text, *characters);
}

void append_upper(std::string& text, char32_t character) {
  if (const SpecialCasing* special = find_special(character)) return append_all(text, special->upper);
  append(text, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(character))));
}

void append_title(std::string& text, char32_t character) {
  if (const SpecialCasing* special = find_special(character)) return append_all(text, special->title);
  append(text, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(character))));
}

void append_lower(std::string& text, std::string_view source, size_t at, char32_t character) {
  constexpr char32_t kSigma = 0x3A3, kFinalSigma = 0x3C2, kDottedI = 0x130;
  if (character == kSigma && is_final_sigma(source, at)) return append(text, kFinalSigma);
  if (character == kDottedI) return append_all(text, U"i\u0307");
  append(text, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character))));
}

// Calls visit(output, at, character) for each valid character; other bytes are copied.
template <class Visit>
std::string map_characters(std::string_view text, Visit visit) {
  std::string mapped;
  mapped.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character character = decode(text, at);
    if (character.length == 1 && character.value >= 0x80) {
      mapped.push_back(text[at]);
    } else {
      visit(mapped, at, character.value);
    }
    at += character.length;
  }
  return mapped;
}

}  // namespace

Character decode(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const unsigned first = byte(0);
  const auto rest = [&](size_t i) { return byte(i) & 0x3F; };
  if (first < 0x80) return {first, 1};
  if (first >= 0xC2 && first < 0xE0 && is_continuation(byte(1))) return {(first & 0x1F) << 6 | rest(1), 2};
  if ((first & 0xF0) == 0xE0 && is_continuation(byte(1)) && is_continuation(byte(2))) {
    const char32_t value = (first & 0x0F) << 12 | rest(1) << 6 | rest(2);
    if (value >= 0x800 && (value < 0xD800 || value > 0xDFFF)) return {value, 3};
  }
  if (first >= 0xF0 && first < 0xF5 && is_continuation(byte(1)) && is_continuation(byte(2)) &&
      is_continuation(byte(3))) {
    const char32_t value = (first & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3);
    if (value >= 0x10000 && value < 0x110000) return {value, 4};
  }
  return {first, 1};
}

void append(std::string& text, char32_t character) {
  const auto push = [&text](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (character < 0x80) {
    push(character);
  } else if (character < 0x800) {
    push(0xC0 | character >> 6);
    push(0x80 | (character & 0x3F));
  } else if (character < 0x10000) {
    push(0xE0 | character >> 12);
    push(0x80 | (character >> 6 & 0x3F));
    push(0x80 | (character & 0x3F));
  } else {
    push(0xF0 | character >> 18);
    push(0x80 | (character >> 12 & 0x3F));
    push(0x80 | (character >> 6 & 0x3F));
    push(0x80 | (character & 0x3F));
  }
}

bool is_valid(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Character character = decode(text, at);
    if (character.length == 1 && character.value >= 0x80) return false;
    at += character.length;
  }
  return true;
}

size_t count(std::string_view text) {
  size_t characters = 0;
  for (size_t at = 0; at < text.size(); at += decode(text, at).length) ++characters;
  return characters;
}

size_t offset(std::string_view text, size_t index) {
  size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at += decode(text, at).length;
  return at;
}

size_t previous(std::string_view text, size_t end) {
  for (size_t length = 4; length > 1; --length) {
    if (length <= end && decode(text.substr(0, end), end - length).length == length) return end - length;
  }
  return end - 1;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= 0x20 && c < 0x7F;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool is_alphabetic(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LL || kind == UTF8PROC_CATEGORY_LT ||
         kind == UTF8PROC_CATEGORY_LM || kind == UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
}

bool is_digit(char32_t c) {
  return is_decimal(c) || c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 ||
         (c >= 0x2074 && c <= 0x2079) || (c >= 0x2080 && c <= 0x2089) || (c >= 0x2460 && c <= 0x2468);
}

bool is_numeric(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO;
}

bool is_word(char32_t c) {
  if (c == '_' || is_alphabetic(c) || is_decimal(c)) return true;
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_MC ||
         kind == UTF8PROC_CATEGORY_PC;
}

bool is_lower(char32_t c) {
  return utf8proc_islower(static_cast<utf8proc_int32_t>(c)) != 0;
}
bool is_upper(char32_t c) {
  return utf8proc_isupper(static_cast<utf8proc_int32_t>(c)) != 0;
}
bool is_title(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LT;
}

std::string upper(std::string_view text) {
  return map_characters(text, [](std::string& out, size_t, char32_t c) { append_upper(out, c); });
}

std::string lower(std::string_view text) {
  return map_characters(text,
                        [&](std::string& out, size_t at, char32_t c) { append_lower(out, text, at, c); });
}

std::string title(std::string_view text) {
  bool within_word = false;
  return map_characters(text, [&](std::string& out, size_t at, char32_t c) {
    if (within_word) {
      append_lower(out, text, at, c);
    } else {
      append_title(out, c);
    }
    within_word = is_cased(c);
  });
}

std::string capitalize(std::string_view text) {
  return map_characters(text, [&](std::string& out, size_t at, char32_t c) {
    if (at == 0) {
      append_title(out, c);
    } else {
      append_lower(out, text, at, c);
    }
  });
}

std::string swap_case(std::string_view text) {
  return map_characters(text, [&](std::string& out, size_t at, char32_t c) {
    if (is_upper(c)) {
      append_lower(out, text, at, c);
    } else if (is_lower(c)) {
      append_upper(out, c);
    } else {
      append(out, c);
    }
  });
}

}  // namespace tempo9::chat::jinja::unicode
