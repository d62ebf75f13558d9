#include "grammar/json_spelling.h"

#include <array>
#include <span>
#include <vector>

#include "base/limits.h"
#include "grammar/code_points.h"
#include "grammar/ebnf.h"

namespace tempo9::grammar {
namespace {

// GrammarExprType; those behind kRepeat are of no use here.
enum ExpressionKind { kBytes, kClass, kClassStar, kEmpty, kRule, kSequence, kChoices, kTagDispatch, kRepeat };

using Choices = std::vector<std::string>;
using Parts = std::vector<int>;  // numbers of expressions, in order

struct Expression {
  int kind;
  std::span<const int> data;
};

// In a rule: name, body, lookahead, whether that is exact, most tokens, most characters, name of its capture,
// whether it is lazy, temperature.
bool is_plain(const Json& rule) {
  return rule.size() == 9 && rule[2] == -1 && rule[4] == -1 && rule[5] == -1 && rule[6] == "" &&
         rule[7] == false && rule[8].is_null();
}

std::string spell(std::span<const int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return literal(quoted.substr(1, quoted.size() - 2));
}

CodePointSet set_of(std::span<const int> data) {
  CodePointSet set;
  for (size_t i = 1; i + 1 < data.size(); i += 2)
    set.add({static_cast<char32_t>(data[i]), static_cast<char32_t>(data[i + 1])});
  return data[0] == 0 ? set : set.complement();
}

// How one character of `set` may be spelled.
Choices spell(const CodePointSet& set) {
  static constexpr std::array<std::pair<char32_t, char>, 7> kShort = {
      {{'"', '"'}, {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}}};
  static constexpr char32_t kControls = 0x20;
  Choices choices;
  const CodePointSet plain = set.without({{0, kControls - 1}, {'"', '"'}, {'\\', '\\'}});
  if (!plain.empty()) choices.push_back(plain.to_class());
  CodePointSet letters, rest;
  for (const auto& [character, letter] : kShort)
    if (set.contains(character)) letters.add({static_cast<char32_t>(letter), static_cast<char32_t>(letter)});
  if (!letters.empty()) choices.push_back("\"\\\\\" " + letters.to_class());
  for (const char32_t first : {0u, 0x10u}) {
    CodePointSet digits;
    for (char32_t low = 0; low < 0x10; ++low)
      if (set.contains(first + low))
        for (const char digit : {"0123456789abcdef"[low], "0123456789ABCDEF"[low]})
          digits.add({static_cast<char32_t>(digit), static_cast<char32_t>(digit)});
    if (!digits.empty())
      choices.push_back(fmt::format("\"\\\\u00{}\" {}", first == 0 ? '0' : '1', digits.to_class()));
  }
  return choices;
}

class Speller {
 public:
  explicit Speller(const Json& grammar)
      : rules_(grammar.at("rules")),
        data_(grammar.at("grammar_expr_data").get<Parts>()),
        begins_(grammar.at("grammar_expr_indptr").get<Parts>()),
        root_(grammar.at("root_rule_id").get<int>()) {}

  Result<std::string> write() {
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (!is_plain(rules_[i])) return unsupported("attributes of rules");
      TRY_ASSIGN(const Choices choices, alternatives({rules_[i][1].get<int>()}, 0));
      grammar_.define(name(static_cast<int>(i)), join(choices));
      TRY(grammar_.check_size());
    }
    return grammar_.text(name(root_));
  }

 private:
  static tl::unexpected<Error> unsupported(std::string_view what) {
    return fail(ErrorCode::kUnsupported, "{} in it cannot be kept where the text is written as JSON", what);
  }
  static std::string name(int rule) { return fmt::format("rule{}", rule); }
  static std::string join(const Choices& choices) { return fmt::format("{}", fmt::join(choices, " | ")); }

  Expression at(int number) const {
    const auto begin = static_cast<size_t>(begins_.at(static_cast<size_t>(number)));
    return {data_.at(begin), std::span(data_).subspan(begin + 2, static_cast<size_t>(data_.at(begin + 1)))};
  }

  // `parts`, in order, as choices of expressions. A character that has several spellings is no choice within
  // a sequence, which would become a rule of its own: the matcher looks at tokens that run over a rule's end
  // one by one.
  Result<Choices> alternatives(const Parts& parts, int depth) {
    if (depth > limits::kMaxSchemaDepth) return unsupported("what nests so deep");
    std::string before;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Expression part = at(parts[i]);
      const Parts behind(parts.begin() + static_cast<ptrdiff_t>(i) + 1, parts.end());
      switch (part.kind) {
        case kBytes:
          before += spell(part.data) + " ";
          continue;
        case kEmpty:
          continue;
        case kRule:
          before += name(part.data[0]) + " ";
          continue;
        case kRepeat:
          before += fmt::format("{}{{{},{}}} ", name(part.data[0]), part.data[1],
                                part.data[2] < 0 ? "" : std::to_string(part.data[2]));
          continue;
        case kSequence: {
          Parts all(part.data.begin(), part.data.end());
          all.insert(all.end(), behind.begin(), behind.end());
          return behind_text(before, alternatives(all, depth + 1), "");
        }
        case kClass: {
          TRY_ASSIGN(const std::string rest, as_one(behind, depth + 1));
          return behind_text(before, spell(set_of(part.data)), rest);
        }
        case kClassStar:
          return behind_text(before, run(set_of(part.data), behind, depth + 1), "");
        case kChoices: {
          TRY_ASSIGN(const std::string rest, as_one(behind, depth + 1));
          Choices all;
          for (const int choice : part.data) {
            TRY_ASSIGN(const Choices own, alternatives({choice}, depth + 1));
            all.insert(all.end(), own.begin(), own.end());
          }
          return behind_text(before, std::move(all), rest);
        }
        default:
          return unsupported("an expression of a special kind");
      }
    }
    return Choices{before.empty() ? "\"\"" : before};
  }

  static Result<Choices> behind_text(const std::string& before, Result<Choices> choices,
                                     const std::string& rest) {
    if (!choices) return choices;
    if (choices->empty()) return unsupported("a character that does not exist");
    for (std::string& choice : *choices) choice = before + choice + " " + rest;
    return choices;
  }

  // What may follow a character, as one expression; empty if nothing does.
  Result<std::string> as_one(const Parts& parts, int depth) {
    if (parts.empty()) return std::string();
    TRY_ASSIGN(const Choices choices, alternatives(parts, depth));
    return grammar_.rule("rest", join(choices));
  }

  // Any number of characters, then `behind`, as one rule.
  Result<Choices> run(const CodePointSet& set, const Parts& behind, int depth) {
    const std::string own = grammar_.reserve("run");
    TRY_ASSIGN(Choices choices, alternatives(behind, depth));
    for (const std::string& spelled : spell(set)) choices.push_back(spelled + " " + own);
    grammar_.define(own, join(choices));
    return Choices{own};
  }

  const Json& rules_;
  const Parts data_, begins_;
  const int root_;
  Ebnf grammar_;
};

}  // namespace

Result<std::string> spell_in_json(const Json& grammar) {
  if (!grammar.at("suffix_stop_infos").empty())
    return fail(ErrorCode::kUnsupported, "suffixes and stops in it cannot be kept");
  return Speller(grammar).write();
}

}  // namespace tempo9::grammar
