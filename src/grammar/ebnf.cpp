#include "grammar/ebnf.h"

#include "base/check.h"
#include "base/limits.h"
#include "grammar/utf8.h"

namespace tempo9::grammar {

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const char32_t code_point = next_code_point(text, at);
    if (code_point == '"' || code_point == '\\')
      (out += '\\') += static_cast<char>(code_point);
    else if (code_point >= 0x20 && code_point != 0x7F)
      append_utf8(out, code_point);
    else
      fmt::format_to(std::back_inserter(out), "\\u{:04X}", static_cast<uint32_t>(code_point));
  }
  return out + "\"";
}

std::string Ebnf::rule(std::string_view hint, std::string body) {
  if (const auto known = names_.find(body); known != names_.end()) return known->second;
  std::string name = reserve(hint);
  names_.emplace(body, name);
  define(name, std::move(body));
  return name;
}

std::string Ebnf::reserve(std::string_view hint) {
  return fmt::format("{}_{}", hint, ++count_);
}

void Ebnf::define(const std::string& name, std::string body) {
  fmt::format_to(std::back_inserter(rules_), "{} ::= {}\n", name, body);
}

Status Ebnf::check_size() const {
  if (rules_.size() <= limits::kMaxGrammarBytes && count_ <= limits::kMaxGrammarRules) return {};
  return fail(ErrorCode::kInvalidArgument, "it takes a grammar of more than {} rules or {} bytes",
              limits::kMaxGrammarRules, limits::kMaxGrammarBytes);
}

std::string Ebnf::text(std::string_view start) const {
  return fmt::format("root ::= {}\n{}", start, rules_);
}

}  // namespace tempo9::grammar
