// Strings as Python sees them: sequences of code points with Unicode's case and classes. All functions accept
// any bytes; a byte that is not part of valid UTF-8 counts as one character.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tempo9::chat::jinja::unicode {

struct Character {
  char32_t value;
  size_t length;  // bytes, at least 1
};
// The character that begins at byte `at`, which must lie within the text.
Character decode(std::string_view text, size_t at);
void append(std::string& text, char32_t character);
bool is_valid(std::string_view text);

size_t count(std::string_view text);
// Byte at which character `index` begins; the text's size if it has no more than `index` characters.
size_t offset(std::string_view text, size_t index);
// Byte at which the character that ends at byte `end` begins.
size_t previous(std::string_view text, size_t end);

bool is_space(char32_t character);
bool is_printable(char32_t character);
bool is_word(char32_t character);  // may stand in an identifier
bool is_alphabetic(char32_t character);
bool is_decimal(char32_t character);
bool is_digit(char32_t character);
bool is_numeric(char32_t character);
bool is_lower(char32_t character);
bool is_upper(char32_t character);
bool is_title(char32_t character);

// Full case mappings: one character may become several, and a final sigma is told from another one.
std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string title(std::string_view text);       // every word
std::string capitalize(std::string_view text);  // the first character only, all others lower
std::string swap_case(std::string_view text);

}  // namespace tempo9::chat::jinja::unicode
