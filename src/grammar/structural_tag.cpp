#include "grammar/structural_tag.h"

#include <map>
#include <optional>

#include "base/limits.h"
#include "grammar/code_points.h"
#include "grammar/ebnf.h"
#include "grammar/json_schema.h"
#include "grammar/regex.h"

namespace tempo9::grammar {
namespace {

Json grammar_part(std::string_view syntax, std::string text) {
  return {{"type", "grammar"}, {"grammar", std::move(text)}, {"syntax", syntax}};
}

// One that read_client_grammars() takes in hand.
Json client_grammar(const Form& form, std::string_view syntax, std::string text) {
  Json part = grammar_part(syntax, std::move(text));
  part["subject"] = form.subject;
  part["in_json"] = form.in_json;
  return part;
}

// `( ("<call>", call) )` and the like: what XGrammar calls free text with marks in it.
std::string free_text(const std::vector<std::string>& excluded) {
  std::string words;
  for (const std::string& word : excluded) words += literal(word) + ",";
  return fmt::format("root ::= TagDispatch(excludes=({}))\n", words);
}

constexpr CodePointRange kBlanks[] = {{'\t', '\n'}, {'\r', '\r'}, {' ', ' '}};

CodePointSet without_blanks() {
  CodePointSet blanks;
  for (const CodePointRange range : kBlanks) blanks.add(range);
  return blanks.complement();
}

// What does not go on as any of `words`, which all have the same first `at` characters.
std::string other_words(const std::vector<std::string>& words, size_t at, const CodePointSet& others,
                        Ebnf& grammar) {
  std::map<char, std::vector<std::string>> by_next;
  for (const std::string& word : words) {
    if (word.size() == at) return "";  // this is one
    by_next[word[at]].push_back(word);
  }
  CodePointSet taken;
  std::string text;
  for (const auto& [next, longer] : by_next) {
    const auto character = static_cast<unsigned char>(next);
    taken.add({character, character});
    const std::string rest = other_words(longer, at + 1, CodePointSet::all(), grammar);
    if (!rest.empty()) text += fmt::format(" | {} {}", literal({&next, 1}), grammar.rule("other", rest));
  }
  return fmt::format("\"\" | {} rest{}", others.without(taken).to_class(), text);
}

std::string other_text(const Form& form) {
  Ebnf grammar;
  CodePointSet first = without_blanks();
  for (const std::string& word : form.parts.at(0).words)
    if (!word.empty())
      first = first.without({{static_cast<unsigned char>(word[0]), static_cast<unsigned char>(word[0])}});
  const auto opening = static_cast<unsigned char>(form.text.at(0));
  const CodePointSet others = first.without({{opening, opening}});
  const std::string blank = without_blanks().complement().to_class();
  std::string inner = other_words(form.words, 0, first, grammar);
  grammar.define("inner", fmt::format("{} | {} inner", inner, blank));
  grammar.define("outer", fmt::format("\"\" | {} outer | {} rest | {} inner", blank, others.to_class(),
                                      literal(form.text)));
  std::string rest = free_text(form.parts.at(0).words);
  grammar.define("rest", rest.substr(rest.find("::= ") + 4));
  return grammar.text("outer");
}

Json const_string(std::string_view text) {
  return {{"type", "const_string"}, {"value", text}};
}

class Writer {
 public:
  explicit Writer(const ControlTokens& controls) : controls_(controls) {}

  Result<Json> write(const Form& form, int depth) {
    if (depth > limits::kMaxSchemaDepth)
      return fail(ErrorCode::kInvalidArgument, "the form has too many levels");
    switch (form.kind) {
      case Form::Kind::kText:
        return text(form);
      case Form::Kind::kFreeText:
        return grammar_part("ebnf", free_text(form.words));
      case Form::Kind::kJsonSchema: {
        const auto quote = controls_.find(form.syntax.quote);
        const auto token = quote == controls_.end() ? std::nullopt : std::optional(quote->second);
        TRY_ASSIGN(std::string text, json_schema_to_ebnf(form.schema, form.subject, form.syntax, token));
        return grammar_part("ebnf", std::move(text));
      }
      case Form::Kind::kRegex:
        return regex(form);
      case Form::Kind::kEbnf:
      case Form::Kind::kLark:
        if (form.text.size() > limits::kMaxGrammarBytes)
          return fail(ErrorCode::kInvalidArgument, "{}: the grammar is longer than {} bytes", form.subject,
                      limits::kMaxGrammarBytes);
        return client_grammar(form, form.kind == Form::Kind::kEbnf ? "ebnf" : "lark", form.text);
      case Form::Kind::kSequence:
        return list("sequence", form, depth);
      case Form::Kind::kChoice:
        return list("or", form, depth);
      case Form::Kind::kRepeat: {
        TRY_ASSIGN(Json part, write(form.parts.at(0), depth + 1));
        return Json{
            {"type", "repeat"}, {"min", form.least}, {"max", form.most}, {"content", std::move(part)}};
      }
      case Form::Kind::kOtherText:
        return grammar_part("ebnf", other_text(form));
      case Form::Kind::kDispatch:
        break;
    }
    return dispatch(form, depth);
  }

 private:
  // The text in pieces, cut at control tokens.
  Json text(const Form& form) const {
    Json pieces = Json::array();
    size_t begin = 0;
    while (true) {
      size_t at = form.text.size();
      const std::string* next = nullptr;
      for (const std::string& word : form.words)
        if (const size_t found = form.text.find(word, begin); found < at && controls_.contains(word))
          at = found, next = &word;
      if (at > begin) pieces.push_back(const_string(std::string_view(form.text).substr(begin, at - begin)));
      if (next == nullptr) break;
      pieces.push_back({{"type", "token"}, {"token", controls_.at(*next)}});
      begin = at + next->size();
    }
    if (pieces.empty()) return const_string("");
    return pieces.size() == 1 ? Json(pieces[0]) : Json{{"type", "sequence"}, {"elements", std::move(pieces)}};
  }

  Result<Json> list(std::string_view type, const Form& form, int depth) {
    Json parts = Json::array();
    for (const Form& part : form.parts) {
      TRY_ASSIGN(Json written, write(part, depth + 1));
      parts.push_back(std::move(written));
    }
    if (parts.empty()) return const_string("");
    return Json{{"type", type}, {"elements", std::move(parts)}};
  }

  Result<Json> dispatch(const Form& form, int depth) {
    Json rules = Json::array();
    const bool tokens = !form.words.empty() && controls_.contains(form.words[0]);
    for (size_t i = 0; i < form.words.size(); ++i) {
      TRY_ASSIGN(Json part, write(form.parts.at(i), depth + 1));
      const Json word = tokens ? Json(controls_.at(form.words[i])) : Json(form.words[i]);
      rules.push_back(Json::array({word, std::move(part)}));
    }
    return Json{{"type", tokens ? "token_dispatch" : "dispatch"},
                {"rules", std::move(rules)},
                {"loop", form.most != 1}};
  }

  static Result<Json> regex(const Form& form) {
    const auto refuse = [&](const Error& error) {
      return fail(error.code, "{}: the regular expression is not supported: {}", form.subject, error.message);
    };
    const auto parsed = parse_regex(form.text, RegexMatch::kWhole);
    if (!parsed) return refuse(parsed.error());
    const auto text = to_ebnf(*parsed, Spelling::plain());
    if (!text) return refuse(text.error());
    std::string grammar = "root ::= " + *text + "\n";
    return form.in_json ? client_grammar(form, "ebnf", std::move(grammar))
                        : grammar_part("ebnf", std::move(grammar));
  }

  const ControlTokens& controls_;
};

}  // namespace

Result<std::string> to_structural_tag(const Form& form, const ControlTokens& controls) {
  TRY_ASSIGN(Json format, Writer(controls).write(form, 0));
  const Json tag = {{"type", "structural_tag"}, {"format", std::move(format)}};
  std::string text = tag.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 2 * limits::kMaxGrammarBytes)
    return fail(ErrorCode::kInvalidArgument, "all grammars of the request together have more than {} bytes",
                2 * limits::kMaxGrammarBytes);
  return text;
}

}  // namespace tempo9::grammar
