// Regular expressions as JSON Schema's `pattern` writes them (ECMAScript's, with Unicode), as a tree. What no
// grammar can express (back-references, looking around, word boundaries) or would need tables of properties
// (\p{…}) is refused by name, never ignored.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/code_points.h"

namespace tempo9::grammar {

struct Regex {
  enum class Kind {
    kSet,       // one code point of `set`
    kSequence,  // all of `parts`, in order; none: the empty text
    kChoice,    // one of `parts`
    kRepeat,    // parts[0], `least` to `most` times
    kBegin,     // ^ and $; only before parse_regex() has resolved them
    kEnd,
  } kind = Kind::kSequence;
  CodePointSet set = {};
  std::vector<Regex> parts = {};
  int least = 0, most = 0;  // most: -1 for any number
};

enum class RegexMatch {
  kAnywhere,  // the expression is found in the text: what ^ and $ do not exclude may stand around it
  kWhole,     // it is the text
};

// A tree that matches whole texts. Errors say what and where.
Result<Regex> parse_regex(std::string_view source, RegexMatch match);

// Code points of the texts it matches, at least and at most (none: any number).
struct Lengths {
  int64_t least = 0;
  std::optional<int64_t> most = {};
};
Lengths lengths(const Regex& regex);

// The same with texts of `wanted` lengths only; nothing where that is no simple change of a repeat.
std::optional<Regex> with_lengths(const Regex& regex, const Lengths& wanted);

// Whether it matches all of `text`. Time in proportion to the product of their sizes, written out.
bool matches(const Regex& regex, std::u32string_view text);

// As an expression of EBNF: the text itself, or how it stands between the quotes of a JSON string.
// kInvalidArgument if it matches nothing there.
struct Spelling {
  CodePointSet outside = {};  // cannot stand there as they are
  bool escapes = false;       // but by JSON's short escapes, where a set has nothing else
  static Spelling plain() { return {}; }
  static Spelling json() { return {{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}}, true}; }
};
Result<std::string> to_ebnf(const Regex& regex, const Spelling& spelling);

}  // namespace tempo9::grammar
