// UTF-8 one character at a time, by the table of well-formed sequences in the Unicode Standard (table 3-7):
// no overlong forms, no surrogates, nothing beyond U+10FFFF.
#pragma once
#include <string_view>

namespace tempo9::text {

struct Utf8Step {
  int bytes;       // at least 1. If not valid: the maximal subpart, which one U+FFFD replaces
  bool valid;      // a whole character
  bool truncated;  // not valid only because the text ends here: more bytes could complete it
};

// What `text`, which is not empty, begins with.
Utf8Step first_character(std::string_view text);

// Bytes of the longest prefix that is valid UTF-8.
size_t valid_prefix(std::string_view text);

}  // namespace tempo9::text
