#include "grammar/regex.h"

#include <algorithm>
#include <set>

#include "base/limits.h"
#include "grammar/ebnf.h"
#include "grammar/regex_parser.h"

namespace tempo9::grammar {
namespace {

using Kind = Regex::Kind;

Regex any_text() {
  return {Kind::kRepeat, {}, {{Kind::kSet, CodePointSet::all()}}, 0, -1};
}

// Replaces ^ and $ by what they mean: at an open end, which they close, nothing; elsewhere they are refused.
// What stays open is filled with any text.
class Anchors {
 public:
  explicit Anchors(RegexMatch match) : match_(match) {}

  Result<Regex> resolve(Regex regex, bool at_begin, bool at_end) const {
    switch (regex.kind) {
      case Kind::kBegin:
        if (!at_begin) return misplaced('^');
        return fill({}, false, at_end);
      case Kind::kEnd:
        if (!at_end) return misplaced('$');
        return fill({}, at_begin, false);
      case Kind::kChoice:
        for (Regex& part : regex.parts) {
          TRY_ASSIGN(part, resolve(std::move(part), at_begin, at_end));
        }
        return regex;
      case Kind::kSequence:
        if (regex.parts.empty()) return fill(std::move(regex), at_begin, at_end);
        for (size_t i = 0; i < regex.parts.size(); ++i) {
          TRY_ASSIGN(regex.parts[i], resolve(std::move(regex.parts[i]), at_begin && i == 0,
                                             at_end && i + 1 == regex.parts.size()));
        }
        return regex;
      case Kind::kRepeat: {
        TRY_ASSIGN(regex.parts[0], resolve(std::move(regex.parts[0]), false, false));
        return fill(std::move(regex), at_begin, at_end);
      }
      case Kind::kSet:
        break;
    }
    return fill(std::move(regex), at_begin, at_end);
  }

 private:
  Result<Regex> misplaced(char anchor) const {
    return fail(ErrorCode::kUnsupported, "'{}' inside of a regular expression is not supported", anchor);
  }
  Regex fill(Regex regex, bool before, bool behind) const {
    if (match_ == RegexMatch::kWhole || (!before && !behind)) return regex;
    Regex filled;
    if (before) filled.parts.push_back(any_text());
    filled.parts.push_back(std::move(regex));
    if (behind) filled.parts.push_back(any_text());
    return filled;
  }

  RegexMatch match_;
};

// How many sets it has when repeats are written out, which is what it costs to compile.
int64_t written_out(const Regex& regex) {
  if (regex.kind == Kind::kSet) return 1;
  int64_t sum = 0;
  for (const Regex& part : regex.parts) sum += written_out(part);
  const int64_t times = regex.kind == Kind::kRepeat ? std::max(regex.most, regex.least) : 1;
  return std::min(std::max<int64_t>(sum, 1) * std::max<int64_t>(times, 1), limits::kMaxRegexSize + 1);
}

std::string set_to_ebnf(const CodePointSet& set, const Spelling& spelling) {
  struct Escape {
    char32_t code_point;
    std::string_view text;
  };
  // The short ones only: a control character without is left out, which narrows the set but breaks no
  // promise.
  static constexpr Escape kEscapes[] = {{'"', "\\\""}, {'\\', "\\\\"}, {'\b', "\\b"}, {'\f', "\\f"},
                                        {'\n', "\\n"}, {'\r', "\\r"},  {'\t', "\\t"}};
  // Escapes only where there is nothing else: repeats of single characters are fast, those of choices are
  // not.
  const CodePointSet plain = set.without(spelling.outside);
  if (!plain.empty()) return plain.to_class();
  if (!spelling.escapes) return "";
  std::string choices;
  int count = 0;
  for (const Escape& escape : kEscapes) {
    if (!set.contains(escape.code_point)) continue;
    if (count++ > 0) choices += " | ";
    choices += literal(escape.text);
  }
  return count > 1 ? "(" + choices + ")" : choices;
}

std::string repeat_to_ebnf(const std::string& element, int least, int most) {
  if (least == 0 && most == 1) return element + "?";
  if (least == 0 && most == -1) return element + "*";
  if (least == 1 && most == -1) return element + "+";
  if (most == -1) return fmt::format("{}{{{},}}", element, least);
  return fmt::format("{}{{{},{}}}", element, least, most);
}

using Positions = std::set<size_t>;

// Where in `text` a match may end that begins at one of `starts`.
Positions ends_of(const Regex& regex, std::u32string_view text, const Positions& starts) {
  Positions ends;
  switch (regex.kind) {
    case Kind::kSet:
      for (const size_t at : starts)
        if (at < text.size() && regex.set.contains(text[at])) ends.insert(at + 1);
      return ends;
    case Kind::kChoice:
      for (const Regex& part : regex.parts) ends.merge(ends_of(part, text, starts));
      return ends;
    case Kind::kRepeat: {
      Positions now = starts;
      for (int i = 0; i < regex.least && !now.empty(); ++i) now = ends_of(regex.parts[0], text, now);
      ends = now;
      for (int i = regex.least; i != regex.most && !now.empty(); ++i) {
        Positions next = ends_of(regex.parts[0], text, now);
        std::erase_if(next, [&](size_t at) { return ends.contains(at); });  // from there on it is known
        ends.insert(next.begin(), next.end());
        now = std::move(next);
      }
      return ends;
    }
    default:
      ends = starts;
      for (const Regex& part : regex.parts) ends = ends_of(part, text, ends);
      return ends;
  }
}

// Empty: nothing matches.
std::string write(const Regex& regex, const Spelling& spelling) {
  if (regex.kind == Kind::kSet) return set_to_ebnf(regex.set, spelling);
  if (regex.kind == Kind::kRepeat) {
    const std::string part = write(regex.parts[0], spelling);
    if (part.empty()) return regex.least == 0 ? "\"\"" : "";
    return regex.most == 0 ? "\"\"" : "(" + repeat_to_ebnf(part, regex.least, regex.most) + ")";
  }
  std::string out;
  for (const Regex& part : regex.parts) {
    const std::string text = write(part, spelling);
    if (text.empty() && regex.kind == Kind::kSequence) return "";
    if (text.empty()) continue;
    if (!out.empty()) out += regex.kind == Kind::kSequence ? " " : " | ";
    out += text;
  }
  if (out.empty()) return regex.kind == Kind::kSequence ? "\"\"" : "";
  return "(" + out + ")";
}

}  // namespace

Result<Regex> parse_regex(std::string_view source, RegexMatch match) {
  TRY_ASSIGN(Regex raw, RegexParser(source).parse());
  const bool open = true;
  TRY_ASSIGN(Regex regex, Anchors(match).resolve(std::move(raw), open, open));
  if (written_out(regex) > limits::kMaxRegexSize)
    return fail(ErrorCode::kInvalidArgument,
                "it has more than {} characters when its repeats are written out", limits::kMaxRegexSize);
  return regex;
}

Lengths lengths(const Regex& regex) {
  if (regex.kind == Kind::kSet) return {1, 1};
  if (regex.kind == Kind::kRepeat) {
    const Lengths part = lengths(regex.parts[0]);
    Lengths result{part.least * regex.least};
    if (part.most == 0)
      result.most = 0;
    else if (part.most && regex.most >= 0)
      result.most = *part.most * regex.most;
    return result;
  }
  const bool choice = regex.kind == Kind::kChoice;
  Lengths result{0, 0};
  for (size_t i = 0; i < regex.parts.size(); ++i) {
    const Lengths part = lengths(regex.parts[i]);
    if (!choice) {
      result.least += part.least;
      if (result.most) result.most = part.most ? std::optional(*result.most + *part.most) : std::nullopt;
    } else {
      result.least = i == 0 ? part.least : std::min(result.least, part.least);
      if (result.most)
        result.most = part.most ? std::optional(std::max(*result.most, *part.most)) : std::nullopt;
    }
  }
  return result;
}

std::optional<Regex> with_lengths(const Regex& regex, const Lengths& wanted) {
  const Lengths given = lengths(regex);
  const bool fits =
      given.least >= wanted.least && (!wanted.most || (given.most && *given.most <= *wanted.most));
  if (fits) return regex;
  // The one part that is not of a fixed length takes up the difference, if each round of it is one code
  // point.
  if (regex.kind == Kind::kRepeat && regex.parts[0].kind == Kind::kSet) {
    const int64_t most = regex.most < 0 ? (wanted.most ? *wanted.most : -1)
                                        : std::min<int64_t>(regex.most, wanted.most.value_or(regex.most));
    const int64_t least = std::max<int64_t>(regex.least, wanted.least);
    if ((most >= 0 && least > most) || std::max(least, most) > limits::kMaxRegexSize) return std::nullopt;
    Regex changed = regex;
    changed.least = static_cast<int>(least);
    changed.most = static_cast<int>(most);
    return changed;
  }
  if (regex.kind != Kind::kSequence) return std::nullopt;
  const auto is_variable = [](const Regex& part) {
    const Lengths length = lengths(part);
    return length.most != length.least;
  };
  if (std::count_if(regex.parts.begin(), regex.parts.end(), is_variable) != 1) return std::nullopt;
  Regex changed = regex;
  Regex& part = *std::find_if(changed.parts.begin(), changed.parts.end(), is_variable);
  const int64_t fixed = given.least - lengths(part).least;
  Lengths rest{std::max<int64_t>(0, wanted.least - fixed)};
  if (wanted.most) rest.most = *wanted.most - fixed;
  if (rest.most && *rest.most < 0) return std::nullopt;
  auto fitted = with_lengths(part, rest);
  if (!fitted) return std::nullopt;
  part = *std::move(fitted);
  return changed;
}

bool matches(const Regex& regex, std::u32string_view text) {
  const Positions ends = ends_of(regex, text, {0});
  return ends.contains(text.size());
}

Result<std::string> to_ebnf(const Regex& regex, const Spelling& spelling) {
  std::string expression = write(regex, spelling);
  if (expression.empty()) return fail(ErrorCode::kInvalidArgument, "no text matches it");
  return expression;
}

}  // namespace tempo9::grammar
