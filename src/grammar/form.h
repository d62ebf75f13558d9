// What a text must look like, as plain values: a tree whose leaves are texts, schemas and grammars. Whoever
// reads a request or knows how a model writes its calls builds one; the compiler makes masks of it.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tempo9::grammar {

using Json = nlohmann::ordered_json;

// How the values of a schema are written: as JSON, or as models write arguments that are much like it.
struct ValueSyntax {
  enum class Texts {
    kJson,    // JSON's strings
    kQuoted,  // as they are, between two `quote`, which may name a control token
    kBare,    // as they are; `quote` is what follows. For a schema of texts alone
  } texts = Texts::kJson;
  std::string quote = {};
  std::string comma = ", ", colon = ": ";
  std::string yes = "true", no = "false", none = "null";
  bool bare_keys = false;  // names of properties stand without quotes where they are words
  // Not empty: the outermost value is an object without its braces, whose names have this behind them and no
  // quotes.
  std::string assign = {};
  bool operator==(const ValueSyntax&) const = default;
};

struct Form {
  enum class Kind {
    kText,        // `text`, exactly; those of `words` in it that name control tokens are these tokens
    kFreeText,    // any text that none of `words` occurs in
    kJsonSchema,  // a value that `schema` accepts, in `syntax`
    kRegex,       // a text that all of the regular expression `text` matches (ECMAScript)
    kEbnf,        // by the grammar `text`, in XGrammar's notation, from its rule `root`
    kLark,        // by the grammar `text`, in Lark's notation, from its rule `start`
    kSequence,    // all of `parts`, in order
    kChoice,      // one of `parts`
    kRepeat,      // `parts[0]`, `least` to `most` times
    kOtherText,   // parts[0], a kFreeText, that does not begin with `text` and one of `words`, white space
                  // around `text` left aside
    kDispatch,    // free text; behind any word of `words` stands the part of the same index, `most` times at
                  // most (1, which ends the text, or -1). All words name control tokens, or none does
  } kind = Kind::kText;
  std::string text = {};
  Json schema = nullptr;
  ValueSyntax syntax = {};
  std::string subject =
      {};  // whose schema or grammar this is, for messages: "response_format", "tool 'find'"
  std::vector<std::string> words = {};
  std::vector<Form> parts = {};
  int least = 0, most = -1;  // kRepeat; -1: any number
  bool in_json = false;      // kRegex, kEbnf, kLark: the text stands between the quotes of a JSON string
};

inline Form text_form(std::string text, std::vector<std::string> control_names = {}) {
  Form form{Form::Kind::kText, std::move(text)};
  form.words = std::move(control_names);
  return form;
}
inline Form schema_form(Json schema, std::string subject, ValueSyntax syntax = {}) {
  return {Form::Kind::kJsonSchema, {}, std::move(schema), std::move(syntax), std::move(subject)};
}
inline Form repeat_form(Form part, int least, int most) {
  Form form{Form::Kind::kRepeat};
  form.parts = {std::move(part)};
  form.least = least;
  form.most = most;
  return form;
}
inline Form sequence_form(std::vector<Form> parts) {
  Form form{Form::Kind::kSequence};
  form.parts = std::move(parts);
  return form;
}
inline Form choice_form(std::vector<Form> parts) {
  Form form{Form::Kind::kChoice};
  form.parts = std::move(parts);
  return form;
}
// Text without `word`, then `word`, which may name a control token.
inline Form text_until(const std::string& word) {
  Form free{Form::Kind::kFreeText};
  free.words = {word};
  return sequence_form({std::move(free), text_form(word, {word})});
}

}  // namespace tempo9::grammar
