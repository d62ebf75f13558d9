// Code points of UTF-8, for the patterns and names of schemas.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tempo9::grammar {

// The code point that begins at `at`, which moves behind it. A byte that belongs to none is U+FFFD.
char32_t next_code_point(std::string_view text, size_t& at);
void append_utf8(std::string& out, char32_t code_point);
std::u32string code_points(std::string_view text);

}  // namespace tempo9::grammar
