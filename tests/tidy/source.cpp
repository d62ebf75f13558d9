#include "tidy/source.h"

#include <algorithm>
#include <cctype>

namespace tempo9::tidy {
namespace {

bool is_identifier_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c));
}

// Walks the source token by token and copies it, blanking what it was told to.
class Blanker {
 public:
  Blanker(std::string_view source, bool blank_literals)
      : source_(source), out_(source), blank_literals_(blank_literals) {}

  std::string run() {
    while (at_ < source_.size()) {
      if (starts_with("//")) {
        blank(line_end());
      } else if (starts_with("/*")) {
        blank(end_after("*/", at_ + 2));
      } else if (source_[at_] == '"') {
        literal(quoted_end('"'));
      } else if (source_[at_] == '\'') {
        literal(quoted_end('\''));
      } else if (is_digit(source_[at_])) {
        skip_number();
      } else if (is_identifier_char(source_[at_])) {
        identifier();
      } else {
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  bool starts_with(std::string_view prefix) const { return source_.substr(at_).starts_with(prefix); }

  size_t end_after(std::string_view mark, size_t from) const {
    const size_t found = source_.find(mark, from);
    return found == std::string_view::npos ? source_.size() : found + mark.size();
  }

  // A line comment ends at the newline, unless a backslash carries it on.
  size_t line_end() const {
    size_t end = at_;
    do {
      end = std::min(source_.find('\n', end + 1), source_.size());
    } while (end < source_.size() && source_[end - 1] == '\\');
    return end;
  }

  size_t quoted_end(char quote) const {
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote && source_[end] != '\n') {
      end += source_[end] == '\\' ? 2 : 1;
    }
    return std::min(end + 1, source_.size());
  }

  // A quote between digits separates them; it opens no character.
  void skip_number() {
    while (at_ < source_.size()) {
      const bool separator =
          source_[at_] == '\'' && at_ + 1 < source_.size() && is_identifier_char(source_[at_ + 1]);
      if (!is_identifier_char(source_[at_]) && source_[at_] != '.' && !separator) return;
      ++at_;
    }
  }

  void identifier() {
    const size_t begin = at_;
    while (at_ < source_.size() && is_identifier_char(source_[at_])) ++at_;
    const std::string_view word = source_.substr(begin, at_ - begin);
    const bool raw = word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
    if (raw && at_ < source_.size() && source_[at_] == '"') {
      const size_t open = std::min(source_.find('(', at_), source_.size() - 1);
      const std::string close = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
      literal(end_after(close, open));
    }
  }

  // Blanks what lies between the quotes, or steps over it. An include's path is no literal in this sense.
  void literal(size_t end) {
    if (!blank_literals_) {
      at_ = end;
      return;
    }
    ++at_;
    blank(std::max(at_, end - 1));
    at_ = end;
  }

  void blank(size_t end) {
    for (; at_ < end; ++at_) {
      if (out_[at_] != '\n') out_[at_] = ' ';
    }
  }

  std::string_view source_;
  std::string out_;
  bool blank_literals_;
  size_t at_ = 0;
};

}  // namespace

std::string blank_comments(std::string_view source) {
  return Blanker(source, false).run();
}
std::string blank_comments_and_literals(std::string_view source) {
  return Blanker(source, true).run();
}

std::string blank_directives(std::string_view code) {
  std::string out(code);
  size_t begin = 0;
  bool in_directive = false;
  for (const std::string_view line : split_lines(code)) {
    in_directive = in_directive || trim(line).starts_with('#');
    const bool continues = in_directive && line.ends_with('\\');
    if (in_directive) std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(begin), line.size(), ' ');
    in_directive = continues;
    begin += line.size() + 1;
  }
  return out;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool opens = at == 0 || !is_identifier_char(text[at - 1]);
    const bool closes = end == text.size() || !is_identifier_char(text[end]);
    if (opens && closes) return true;
  }
  return false;
}

}  // namespace tempo9::tidy
