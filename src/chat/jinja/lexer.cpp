#include "chat/jinja/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "chat/jinja/number.h"
#include "chat/jinja/string_literal.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

constexpr size_t kNotFound = std::string_view::npos;

// Line ends become "\n"; one at the very end goes.
std::string normalize_lines(std::string_view source) {
  std::string normal;
  normal.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      normal.push_back(source[i]);
    } else if (!source.substr(i + 1).starts_with('\n')) {
      normal.push_back('\n');
    }
  }
  if (normal.ends_with('\n')) normal.pop_back();
  return normal;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_lines(source)), text_(source_) {}

  Result<std::vector<Token>> run() {
    while (at_ < text_.size()) {
      const size_t tag = find_tag(at_);
      const std::string_view data = text_.substr(at_, tag - at_);
      if (tag == text_.size()) {
        push_data(data);
        at_ = tag;
        break;
      }
      const char sign = sign_at(tag + 2);
      push_data(strip_before_tag(data, sign, text_[tag + 1] == '{'));
      count_lines(data);
      at_ = tag;
      TRY(read_tag(sign));
    }
    push(TokenKind::kEnd);
    return std::move(tokens_);
  }

 private:
  // `{%`, `{{` or `{#` at or behind `from`; the end if there is none.
  size_t find_tag(size_t from) const {
    for (size_t at = text_.find('{', from); at < text_.size(); at = text_.find('{', at + 1)) {
      const char next = at + 1 < text_.size() ? text_[at + 1] : '\0';
      if (next == '%' || next == '{' || next == '#') return at;
    }
    return text_.size();
  }

  char sign_at(size_t at) const {
    return at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at] : '\0';
  }

  std::string_view strip_before_tag(std::string_view data, char sign, bool is_print) const {
    size_t keep = data.size();
    while (keep > 0) {
      const size_t previous = unicode::previous(data, keep);
      if (!unicode::is_space(unicode::decode(data, previous).value)) break;
      keep = previous;
    }
    if (sign == '-') return data.substr(0, keep);
    if (sign == '+' || is_print) return data;
    // The white space of the tag's own line goes if nothing else stands there before the tag.
    const size_t line_begin = data.rfind('\n') + 1;  // 0 if there is no line break
    if (keep <= line_begin && (line_begin > 0 || at_line_start_)) return data.substr(0, line_begin);
    return data;
  }

  Status read_tag(char sign) {
    const char kind = text_[at_ + 1];
    if (kind == '#') return read_comment(sign);
    if (kind == '%') {
      TRY_ASSIGN(const bool raw, read_raw(sign));
      if (raw) return {};
    }
    at_ += sign == '\0' ? 2 : 3;
    const bool statement = kind == '%';
    push(statement ? TokenKind::kStatementBegin : TokenKind::kPrintBegin);
    for (;;) {
      if (brackets_.empty() && end_tag(statement ? "%}" : "}}", statement)) break;
      TRY(read_token());
    }
    push(statement ? TokenKind::kStatementEnd : TokenKind::kPrintEnd);
    count_lines(skipped_);
    return {};
  }

  // If a tag ends here: moves behind it and the white space it takes along.
  bool end_tag(std::string_view mark, bool is_statement) {
    const std::string_view rest = text_.substr(at_);
    const bool minus = rest.starts_with('-') && rest.substr(1).starts_with(mark);
    const bool plus = is_statement && rest.starts_with('+') && rest.substr(1).starts_with(mark);
    if (!minus && !plus && !rest.starts_with(mark)) return false;
    const size_t begin = at_;
    at_ += mark.size() + (minus || plus ? 1 : 0);
    if (minus) {
      at_ = behind_spaces(at_);
    } else if (!plus && is_statement && text_.substr(at_).starts_with('\n')) {
      ++at_;
    }
    skipped_ = text_.substr(begin, at_ - begin);
    at_line_start_ = skipped_.ends_with('\n');
    return true;
  }

  size_t behind_spaces(size_t at) const {
    while (at < text_.size()) {
      const unicode::Character character = unicode::decode(text_, at);
      if (!unicode::is_space(character.value)) break;
      at += character.length;
    }
    return at;
  }

  Status read_comment(char sign) {
    size_t close = text_.find("#}", at_ + (sign == '\0' ? 2 : 3));
    if (close == kNotFound) return fail_here("Missing end of comment tag");
    const size_t begin = at_;
    // The sign belongs to the end tag; in `{#-#}` there is one sign for both, and it is the first one's.
    if (close > at_ + (sign == '\0' ? 2 : 3) && sign_at(close - 1) != '\0') --close;
    at_ = close;
    end_tag("#}", true);
    count_lines(text_.substr(begin, at_ - begin));
    return {};
  }

  // Behind `word` and the white space around it, if that stands at `at`.
  std::optional<size_t> match_word(size_t at, std::string_view word) const {
    at = behind_spaces(at);
    if (!text_.substr(at).starts_with(word)) return std::nullopt;
    return behind_spaces(at + word.size());
  }

  // `{% raw %}`: everything up to `{% endraw %}` is text. False if another statement stands here.
  Result<bool> read_raw(char sign) {
    const std::optional<size_t> word = match_word(at_ + (sign == '\0' ? 2 : 3), "raw");
    if (!word) return false;
    const bool minus = text_.substr(*word).starts_with("-%}");
    if (!minus && !text_.substr(*word).starts_with("%}")) return false;
    const size_t body = minus ? behind_spaces(*word + 3) : *word + 2;
    count_lines(text_.substr(at_, body - at_));
    at_line_start_ = text_[body - 1] == '\n';
    for (size_t tag = text_.find("{%", body); tag != kNotFound; tag = text_.find("{%", tag + 2)) {
      const char end_sign = sign_at(tag + 2);
      const std::optional<size_t> end = match_word(tag + (end_sign == '\0' ? 2 : 3), "endraw");
      if (!end) continue;
      const std::string_view data = strip_before_tag(text_.substr(body, tag - body), end_sign, false);
      at_ = *end;
      if (!end_tag("%}", true)) continue;
      push_data(data);
      count_lines(text_.substr(body, at_ - body));
      return true;
    }
    return fail_here("Missing end of raw directive");
  }

  Status read_token() {
    const size_t begin = std::exchange(at_, behind_spaces(at_));
    if (at_ > begin) {
      count_lines(text_.substr(begin, at_ - begin));
      return {};
    }
    if (at_ >= text_.size()) return fail_here("unexpected end of template");
    const char c = text_[at_];
    if (is_digit(c)) return read_number();
    if (c == '\'' || c == '"') return read_string(c);
    if (unicode::is_word(unicode::decode(text_, at_).value)) {
      read_name();
      return {};
    }
    return read_operator();
  }

  void read_name() {
    const size_t begin = at_;
    while (at_ < text_.size()) {
      const unicode::Character character = unicode::decode(text_, at_);
      if (!unicode::is_word(character.value)) break;
      at_ += character.length;
    }
    push(TokenKind::kName, std::string(text_.substr(begin, at_ - begin)));
  }

  // Digits with single underscores between them, from `at` on; where they end.
  size_t skip_digits(size_t at, bool (*accepts)(char)) const {
    size_t end = at;
    while (end < text_.size()) {
      const size_t digit = end > at && text_[end] == '_' ? end + 1 : end;
      if (digit >= text_.size() || !accepts(text_[digit])) break;
      end = digit + 1;
    }
    return end;
  }

  // Where a float that begins here ends; nothing if none does.
  std::optional<size_t> find_float_end() const {
    if (at_ > 0 && text_[at_ - 1] == '.') return std::nullopt;
    const size_t whole = skip_digits(at_, is_digit);
    size_t end = whole;
    if (end < text_.size() && text_[end] == '.') {
      const size_t fraction = skip_digits(end + 1, is_digit);
      if (fraction > end + 1) end = fraction;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      const size_t exponent_end = skip_digits(exponent, is_digit);
      if (exponent_end > exponent) end = exponent_end;
    }
    return end > whole ? std::optional(end) : std::nullopt;
  }

  Status read_number() {
    if (const std::optional<size_t> end = find_float_end()) {
      Token& token = push(TokenKind::kFloat);
      token.number = parse_float(text_.substr(at_, *end - at_)).value_or(0);
      at_ = *end;
      return {};
    }
    const size_t end = find_integer_end();
    bool overflow = false;
    const std::optional<Integer> value = parse_integer(text_.substr(at_, end - at_), 0, overflow);
    if (!value) return fail_here("a number does not fit 128 bits");
    push(TokenKind::kInteger).integer = *value;
    at_ = end;
    return {};
  }

  size_t find_integer_end() const {
    if (text_[at_] != '0') return skip_digits(at_, is_digit);
    const char mark = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    const size_t first =
        at_ + 2 + (text_.substr(at_ + 2 <= text_.size() ? at_ + 2 : at_).starts_with('_') ? 1 : 0);
    size_t end = at_;
    if (mark == 'x' || mark == 'X') {
      end = skip_digits(
          first, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
    } else if (mark == 'o' || mark == 'O') {
      end = skip_digits(first, [](char c) { return c >= '0' && c <= '7'; });
    } else if (mark == 'b' || mark == 'B') {
      end = skip_digits(first, [](char c) { return c == '0' || c == '1'; });
    }
    if (end > first) return end;
    return skip_digits(at_, [](char c) { return c == '0'; });
  }

  Status read_string(char quote_mark) {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote_mark) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return fail_here("a string has no end");
    const std::string_view body = text_.substr(at_ + 1, end - at_ - 1);
    Result<std::string> value = unescape_string(body);
    if (!value) return fail_here(value.error().message);
    push(TokenKind::kString, *std::move(value));
    count_lines(body);
    at_ = end + 1;
    return {};
  }

  Status read_operator() {
    static constexpr std::string_view kOperators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                      "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                      ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    const std::string_view rest = text_.substr(at_);
    const auto* found =
        std::ranges::find_if(kOperators, [rest](std::string_view op) { return rest.starts_with(op); });
    if (found == std::end(kOperators)) {
      const size_t length = unicode::decode(text_, at_).length;
      return fail_here(fmt::format("unexpected character '{}'", rest.substr(0, length)));
    }
    TRY(check_brackets((*found)[0]));
    push(TokenKind::kOperator, std::string(*found));
    at_ += found->size();
    return {};
  }

  Status check_brackets(char c) {
    if (c == '(') brackets_.push_back(')');
    if (c == '[') brackets_.push_back(']');
    if (c == '{') brackets_.push_back('}');
    if (c != ')' && c != ']' && c != '}') return {};
    if (brackets_.empty() || brackets_.back() != c) return fail_here(fmt::format("unexpected '{}'", c));
    brackets_.pop_back();
    return {};
  }

  Token& push(TokenKind kind, std::string text = {}) {
    tokens_.push_back({kind, line_, std::move(text)});
    return tokens_.back();
  }

  void push_data(std::string_view data) {
    if (!data.empty()) push(TokenKind::kData, std::string(data));
  }

  void count_lines(std::string_view text) { line_ += static_cast<int>(std::ranges::count(text, '\n')); }

  tl::unexpected<Error> fail_here(std::string_view message) const {
    return fail(ErrorCode::kInvalidArgument, "line {}: {}", line_, message);
  }

  const std::string source_;
  const std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;   // the last tag took its line's end along
  std::string_view skipped_;    // by the last end tag
  std::vector<char> brackets_;  // that must still be closed
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace tempo9::chat::jinja
