// C++ source as the tidy rules see it: the same characters at the same places, with comments, and where
// wanted literals, blanked out. So a brace in a string, or a rule quoted in a comment, never counts.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tempo9::tidy {

struct SourceFile {
  std::string path;  // relative to the project, with '/'
  std::string text;
};

// Both keep every newline, and the length; directives are left alone.
std::string blank_comments(std::string_view source);
std::string blank_comments_and_literals(std::string_view source);

// Also blanks preprocessor directives, with the lines they continue on. Takes the result of the function
// above.
std::string blank_directives(std::string_view code);

std::vector<std::string_view> split_lines(std::string_view text);
std::string_view trim(std::string_view text);

// True where `text` holds `word` between characters that no identifier has.
bool has_word(std::string_view text, std::string_view word);

}  // namespace tempo9::tidy
