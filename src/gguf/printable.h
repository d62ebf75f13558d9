// Strings out of a file, made fit for a terminal and for messages.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tempo9::gguf {

// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view bytes);

// `bytes` with everything that a terminal could act on or that would not be seen written as an escape:
// control characters, bytes that are not UTF-8, direction overrides and other invisible characters,
// backslashes. At most `limit` characters of input are shown; "…" stands for the rest.
std::string printable(std::string_view bytes, size_t limit = 100);

}  // namespace tempo9::gguf
