#include "grammar/client_grammars.h"

#include <utility>

#include "grammar/compiled_body.h"
#include "grammar/json_spelling.h"

namespace tempo9::grammar {
namespace {

// The library takes the caret of /[\^a]/ for one that says "but these".
constexpr std::string_view kMisreadCaret = "[\\^";

Status read_grammar(Json& part) {
  const auto subject = part["subject"].get<std::string>();
  const bool in_json = part["in_json"].get<bool>(), lark = part["syntax"] == "lark";
  part.erase("subject");
  part.erase("in_json");
  const auto text = part["grammar"].get<std::string>();
  if (lark && text.find(kMisreadCaret) != text.npos)
    return fail(ErrorCode::kUnsupported,
                "{}: '{}' is not supported; write the caret behind another character", subject,
                kMisreadCaret);
  Result<std::string> read = without_exceptions(ErrorCode::kInvalidArgument, [&] {
    const auto grammar = lark ? xgrammar::Grammar::FromLark(text) : xgrammar::Grammar::FromEBNF(text);
    return in_json ? grammar.SerializeJSON() : std::string();
  });
  if (read && in_json) read = spell_in_json(Json::parse(*read));
  if (!read) return fail(read.error().code, "{}: {}", subject, read.error().message);
  if (!in_json) return {};
  part["syntax"] = "ebnf";
  part["grammar"] = *std::move(read);
  return {};
}

Status read_within(Json& part) {
  if (!part.is_structured()) return {};
  if (part.is_object() && part.contains("subject")) return read_grammar(part);
  for (Json& member : part) {
    TRY(read_within(member));
  }
  return {};
}

}  // namespace

Result<std::string> read_client_grammars(const std::string& tag) {
  if (tag.find("\"in_json\":") == tag.npos) return tag;
  Json parsed = Json::parse(tag);
  TRY(read_within(parsed));
  return parsed.dump();
}

}  // namespace tempo9::grammar
