#include "grammar/regex_parser.h"

#include <algorithm>

#include "base/limits.h"
#include "grammar/utf8.h"

namespace tempo9::grammar {
namespace {

using Kind = Regex::Kind;

CodePointSet digits() {
  return {{'0', '9'}};
}
CodePointSet word_characters() {
  return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
}
// ECMAScript's WhiteSpace and LineTerminator.
CodePointSet white_space() {
  return {{0x09, 0x0D},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
          {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
}
CodePointSet line_ends() {
  return {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};
}

bool is_digit(char32_t c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char32_t c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

std::string spell(char32_t c) {
  std::string out;
  append_utf8(out, c);
  return out;
}

}  // namespace

RegexParser::RegexParser(std::string_view source) : source_(code_points(source)) {}

bool RegexParser::take(char32_t c) {
  if (at_end() || source_[at_] != c) return false;
  ++at_;
  return true;
}

Result<Regex> RegexParser::parse() {
  if (source_.size() > limits::kMaxRegexLength)
    return fail(ErrorCode::kInvalidArgument, "it is longer than {} characters", limits::kMaxRegexLength);
  TRY_ASSIGN(Regex regex, choice(0));
  if (!at_end()) return refuse("')' without '('");
  return regex;
}

Result<Regex> RegexParser::choice(int depth) {
  if (depth > limits::kMaxRegexDepth) return refuse("groups more than {} deep", limits::kMaxRegexDepth);
  Regex result{Kind::kChoice};
  do {
    TRY_ASSIGN(Regex part, sequence(depth));
    result.parts.push_back(std::move(part));
  } while (take('|'));
  return result.parts.size() == 1 ? Regex(std::move(result.parts[0])) : result;
}

Result<Regex> RegexParser::sequence(int depth) {
  Regex result;
  while (!at_end() && peek() != '|' && peek() != ')') {
    TRY_ASSIGN(Regex element, atom(depth));
    TRY_ASSIGN(element, repeated(std::move(element)));
    result.parts.push_back(std::move(element));
  }
  return result;
}

Result<Regex> RegexParser::atom(int depth) {
  const char32_t c = source_[at_];
  if (c == '*' || c == '+' || c == '?') return refuse("'{}' with nothing to repeat", spell(c));
  if (take('^')) return Regex{Kind::kBegin};
  if (take('$')) return Regex{Kind::kEnd};
  if (take('(')) return group(depth);
  if (take('.')) return Regex{Kind::kSet, line_ends().complement()};
  CodePointSet set;
  if (take('[')) {
    TRY_ASSIGN(set, character_class());
  } else if (take('\\')) {
    TRY_ASSIGN(set, escape(false));
  } else {
    ++at_;
    set.add({c, c});
  }
  return Regex{Kind::kSet, std::move(set)};
}

Result<Regex> RegexParser::group(int depth) {
  if (take('?')) {
    if (take('<')) {
      if (peek() == '=' || peek() == '!') return refuse("looking behind, '(?<', is not supported");
      const size_t end = source_.find(U'>', at_);
      if (end == source_.npos) return refuse("a group's name without an end");
      at_ = end + 1;
    } else if (!take(':')) {
      return refuse("'(?{}' is not supported", at_end() ? "" : spell(peek()));
    }
  }
  TRY_ASSIGN(Regex inner, choice(depth + 1));
  if (!take(')')) return refuse("'(' without ')'");
  return inner;
}

// A brace that begins no count stands for itself, as in every browser.
bool RegexParser::read_counts(int& least, int& most) {
  const size_t begin = at_;
  const auto number = [&](int& value) {
    const size_t first = at_;
    int64_t sum = 0;
    for (; is_digit(peek()); ++at_)
      sum = std::min<int64_t>(sum * 10 + (peek() - '0'), limits::kMaxRegexSize + 1);
    value = static_cast<int>(sum);
    return at_ > first;
  };
  if (take('{') && number(least)) {
    most = least;
    if (take(',') && !number(most)) most = -1;
    if (take('}')) return true;
  }
  at_ = begin;
  return false;
}

Result<Regex> RegexParser::repeated(Regex element) {
  int least = 0, most = -1;
  if (take('+')) {
    least = 1;
  } else if (take('?')) {
    most = 1;
  } else if (!take('*') && !read_counts(least, most)) {
    return element;
  }
  if (element.kind == Kind::kBegin || element.kind == Kind::kEnd) return refuse("'^' or '$' repeated");
  if (most >= 0 && least > most) return refuse("a repeat of at least {} and at most {}", least, most);
  take('?');  // which of several matches is found does not matter here
  if (peek() == '*' || peek() == '+' || peek() == '?') return refuse("two repeats in a row");
  Regex result{Kind::kRepeat};
  result.parts.push_back(std::move(element));
  result.least = least;
  result.most = most;
  return result;
}

Result<CodePointSet> RegexParser::character_class() {
  const bool negated = take('^');
  CodePointSet set;
  while (!take(']')) {
    if (at_end()) return refuse("'[' without ']'");
    bool single = false, single_end = false;
    TRY_ASSIGN(CodePointSet member, class_member(single));
    const bool range = peek() == '-' && at_ + 1 < source_.size() && source_[at_ + 1] != ']';
    if (range) {
      ++at_;
      TRY_ASSIGN(const CodePointSet last, class_member(single_end));
      if (!single || !single_end) return refuse("a range that does not go from one character to another");
      const char32_t from = member.ranges()[0].first, to = last.ranges()[0].first;
      if (from > to) return refuse("a range that goes backwards");
      member.add({from, to});
    }
    set.add(member);
  }
  return negated ? set.complement() : set;
}

Result<CodePointSet> RegexParser::class_member(bool& single) {
  CodePointSet set;
  if (at_end()) return refuse("'[' without ']'");
  if (take('\\')) {
    TRY_ASSIGN(set, escape(true));
  } else {
    set.add({source_[at_], source_[at_]});
    ++at_;
  }
  single = set.ranges().size() == 1 && set.ranges()[0].first == set.ranges()[0].last;
  return set;
}

Result<CodePointSet> RegexParser::escape(bool in_class) {
  if (at_end()) return refuse("'\\' at the end");
  const char32_t c = source_[at_++];
  switch (c) {
    case 'd':
      return digits();
    case 'D':
      return digits().complement();
    case 'w':
      return word_characters();
    case 'W':
      return word_characters().complement();
    case 's':
      return white_space();
    case 'S':
      return white_space().complement();
    default:
      break;
  }
  constexpr std::pair<char32_t, char32_t> kNamed[] = {{'t', '\t'}, {'n', '\n'}, {'v', '\v'},
                                                      {'f', '\f'}, {'r', '\r'}, {'b', '\b'}};
  char32_t code_point = c;
  const auto* const named =
      std::find_if(std::begin(kNamed), std::end(kNamed), [&](const auto& entry) { return entry.first == c; });
  if (named != std::end(kNamed) && (c != 'b' || in_class)) {
    code_point = named->second;
  } else if (c == '0' && !is_digit(peek())) {
    code_point = 0;
  } else if (c == 'x' || c == 'u' || c == 'c') {
    TRY_ASSIGN(code_point, numbered_escape(c));
  } else if (is_letter(c) || is_digit(c)) {
    return refuse("'\\{}' is not supported", spell(c));
  }
  return CodePointSet{{code_point, code_point}};
}

std::optional<char32_t> RegexParser::hexadecimal(int digits) {
  char32_t value = 0;
  for (int i = 0; i < digits; ++i, ++at_) {
    const char32_t c = peek(), lower = c | 0x20;
    if (is_digit(c))
      value = value * 16 + (c - '0');
    else if (lower >= 'a' && lower <= 'f')
      value = value * 16 + (lower - 'a' + 10);
    else
      return std::nullopt;
  }
  return value;
}

Result<char32_t> RegexParser::numbered_escape(char32_t kind) {
  constexpr char32_t kLast = 0x10FFFF;
  std::optional<char32_t> value;
  if (kind == 'c') {
    if (is_letter(peek())) value = source_[at_++] % 32;
  } else if (kind == 'x') {
    value = hexadecimal(2);
  } else if (take('{')) {
    const size_t end = source_.find(U'}', at_);
    if (end != source_.npos && end > at_ && end - at_ <= 6) value = hexadecimal(static_cast<int>(end - at_));
    if (!take('}')) value.reset();
  } else {
    value = hexadecimal(4);
    const bool high = value && *value >= 0xD800 && *value < 0xDC00;
    if (high && take('\\') && take('u')) {  // both halves of a pair
      const auto low = hexadecimal(4);
      value = low && *low >= 0xDC00 && *low < 0xE000
                  ? std::optional(0x10000 + ((*value - 0xD800) << 10) + (*low - 0xDC00))
                  : std::nullopt;
    }
  }
  if (!value || *value > kLast || (*value >= 0xD800 && *value < 0xE000))
    return refuse("'\\{}' without a character's number", spell(kind));
  return *value;
}

}  // namespace tempo9::grammar
