// Grammars of clients, as they are and within a JSON string.
#include <gtest/gtest.h>

#include "grammar/testing/acceptance.h"

namespace tempo9::grammar {
namespace {

using testing::Acceptance;

Form lark(std::string text, bool in_json) {
  Form form{Form::Kind::kLark, std::move(text), nullptr, {}, "tool 'patch'"};
  form.in_json = in_json;
  return form;
}

Form quoted(Form form) {
  return sequence_form({text_form("\""), std::move(form), text_form("\"")});
}

std::string in_json(std::string_view text) {
  return Json(text).dump();
}

// Like the one of Codex's tool that edits files.
constexpr const char* kPatch = R"(start: open section+ close
open: "*** Begin Patch" LF
close: "*** End Patch" LF?
section: new_file | edit_file
new_file: "*** Add File: " path LF ("+" /(.*)/ LF)+
edit_file: "*** Update File: " path LF row*
path: /(.+)/
row: ("+" | "-" | " ") /(.*)/ LF
%import common.LF
)";

constexpr std::string_view kTexts[] = {
    "*** Begin Patch\n*** Add File: a.txt\n+one\n+\n*** End Patch\n",
    "*** Begin Patch\n*** Add File: a \"b\" \\ c\n+\tGr\u00fc\u00dfe \U0001F642 \\n\n*** End Patch",
    "*** Begin Patch\n*** Update File: x\n-a\n+b\n c\n*** Update File: y\n*** End Patch\n",
};
constexpr std::string_view kWrong[] = {
    "*** Begin Patch\n*** End Patch\n",
    "*** Begin Patch\n*** Add File: \n+one\n*** End Patch\n",
    "*** Begin Patch\n*** Add File: a\none\n*** End Patch\n",
    "*** Begin Patch\n*** Add File: a\n+one\n*** End Patch\nmore",
};

TEST(JsonSpelling, AcceptsTheSameTextsAsTheGrammar) {
  const Acceptance plain(lark(kPatch, false)), spelled(quoted(lark(kPatch, true)));
  ASSERT_EQ(plain.error() + spelled.error(), "");
  for (const std::string_view text : kTexts) {
    EXPECT_TRUE(plain.accepts(text)) << text;
    EXPECT_TRUE(spelled.accepts(in_json(text))) << text;
  }
  for (const std::string_view text : kWrong) {
    EXPECT_FALSE(plain.accepts(text)) << text;
    EXPECT_FALSE(spelled.accepts(in_json(text))) << text;
  }
}

TEST(JsonSpelling, NeverLeavesTheString) {
  const Acceptance any(quoted(lark("start: /(.|\\n)*/", true)));
  EXPECT_TRUE(any.accepts(in_json("a \"b\" \\ \n\t\x01\x1f \u00e9")));
  EXPECT_TRUE(any.accepts(R"("\u001F\u001f\b\f")"));
  for (const char* text : {"\"a\"b\"", "\"a\nb\"", "\"\\x\"", "\"\\\"", "\"\\u00\""})
    EXPECT_FALSE(any.accepts(text)) << text;
}

TEST(JsonSpelling, SpellsClassesRepeatsAndExpressions) {
  const Acceptance repeats(quoted(lark("start: (\"a\" | /[^a\"]/){2,3} /[x\\^]+/ \"\\n\"?", true)));
  ASSERT_EQ(repeats.error(), "");
  EXPECT_TRUE(repeats.accepts(R"("ab^x")") && repeats.accepts(R"("a\nax\n")"));
  EXPECT_FALSE(repeats.accepts(R"("a\"x")") || repeats.accepts(R"("aaaax")") || repeats.accepts(R"("aay")"));
  Form regex{Form::Kind::kRegex, "[0-9]+( \"[a-z]*\")?", nullptr, {}, "tool 'r'"};
  regex.in_json = true;
  const Acceptance numbers(quoted(regex));
  EXPECT_TRUE(numbers.accepts(R"("12")") && numbers.accepts(R"("1 \"ab\"")"));
  EXPECT_FALSE(numbers.accepts(R"("")") || numbers.accepts(R"("1 \"ab")"));
}

TEST(JsonSpelling, RefusesWhatItCannotKeepByTheToolsName) {
  const Acceptance folded(quoted(lark("start: /abc/i", true)));
  EXPECT_TRUE(folded.error().starts_with("tool 'patch': ")) << folded.error();
  const Acceptance caret(lark("start: /[\\^a]/", false));
  EXPECT_TRUE(caret.error().starts_with("tool 'patch': '[\\^' is not supported")) << caret.error();
  const Acceptance second(sequence_form({lark("start: \"a\"", true), lark("start: missing", true)}));
  EXPECT_TRUE(second.error().starts_with("tool 'patch': ")) << second.error();
  EXPECT_NE(second.error().find("missing"), std::string::npos) << second.error();
}

}  // namespace
}  // namespace tempo9::grammar
