#include "grammar/compiler.h"

#include <gtest/gtest.h>

#include "grammar/testing/acceptance.h"

namespace tempo9::grammar {
namespace {

using testing::Acceptance;
using testing::Bytes;
using testing::compile;

TEST(Compiler, KnowsEqualForms) {
  const Bytes bytes;
  Compiler compiler(bytes);
  const auto first = compile(compiler, schema_form({{"type", "integer"}}, "a"));
  const auto second = compile(compiler, schema_form({{"type", "integer"}, {"description", "d"}}, "b"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_GT(compiler.cached_bytes(), 0u);
}

TEST(Compiler, ForgetsThoseUsedLongAgo) {
  const Bytes bytes;
  Compiler compiler(bytes, std::chrono::seconds(5), 1);
  const auto first = compile(compiler, text_form("a"));
  const auto other = compile(compiler, text_form("b"));
  const auto again = compile(compiler, text_form("a"));
  ASSERT_TRUE(first && other && again);
  EXPECT_NE(*first, *again);
}

TEST(Compiler, RefusesWhatTakesTooLong) {
  const Bytes bytes;
  Compiler compiler(bytes, std::chrono::milliseconds(1));
  Json names = Json::array();  // as many rules as take far longer than that
  for (int i = 0; i < 3000; ++i) names.push_back(fmt::format("name {}", i * 7919));
  const auto late = compile(compiler, schema_form({{"enum", names}}, "tool 'slow'"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(late.error().message, "tool 'slow': it takes more than 0.001 seconds to compile");
}

TEST(Compiler, NamesWhatIsWrongWithAGrammar) {
  const Bytes bytes;
  Compiler compiler(bytes);
  const auto broken = compile(compiler, {Form::Kind::kLark, "start: missing", nullptr, {}, "tool 'patch'"});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(broken.error().message.starts_with("tool 'patch': ")) << broken.error().message;
  EXPECT_NE(broken.error().message.find("missing"), std::string::npos) << broken.error().message;
}

TEST(Form, AcceptsPartsInOrder) {
  const Acceptance thinking(sequence_form({text_until("</t>"), schema_form({{"type", "boolean"}}, "s")}));
  EXPECT_TRUE(thinking.accepts("let me <b>think</b> </t>true"));
  EXPECT_FALSE(thinking.accepts("true"));
  EXPECT_FALSE(thinking.accepts("a</t>b</t>true"));
  Form repeat{Form::Kind::kRepeat};
  repeat.parts = {choice_form({text_form("a"), text_form("bc")})};
  repeat.least = 1, repeat.most = 2;
  const Acceptance repeated(repeat);
  EXPECT_TRUE(repeated.accepts("abc") && repeated.accepts("a"));
  EXPECT_FALSE(repeated.accepts("") || repeated.accepts("aaa"));
}

TEST(Form, HoldsTextToAGrammarBehindItsMark) {
  Form dispatch{Form::Kind::kDispatch};
  dispatch.words = {"<call>"};
  dispatch.parts = {sequence_form({schema_form({{"type", "integer"}}, "s"), text_form("</call>")})};
  const Acceptance form(dispatch);
  EXPECT_TRUE(form.accepts("any < text"));
  EXPECT_TRUE(form.accepts("see <call>12</call> and <call>3</call>."));
  EXPECT_FALSE(form.accepts("see <call>x</call>"));
  EXPECT_FALSE(form.accepts("see <call>12"));
}

TEST(Form, ReadsLark) {
  const Acceptance patch({Form::Kind::kLark, "start: line+\nline: \"+\" /(.*)/ LF\n%import common.LF\n"});
  EXPECT_EQ(patch.error(), "");
  EXPECT_TRUE(patch.accepts("+a\n+\n"));
  EXPECT_FALSE(patch.accepts("-a\n"));
}

TEST(Matcher, AllowsControlTokensWhereTheyAreNamed) {
  const Bytes bytes;
  Compiler compiler(bytes);
  Form repeat{Form::Kind::kRepeat};
  repeat.parts = {schema_form({{"type", "string"}}, "s")};
  const auto compiled =
      compile(compiler, sequence_form({text_form("a<control>", {"<control>", "<none>"}), std::move(repeat)}));
  ASSERT_TRUE(compiled) << compiled.error().message;
  auto matcher = Matcher::make(*compiled);
  ASSERT_TRUE(matcher);
  const auto allows = [&](TokenId token) { return testing::is_allowed(*matcher->allowed(), token); };
  EXPECT_FALSE(allows(Bytes::kControl));
  EXPECT_TRUE(matcher->accept('a'));
  EXPECT_TRUE(allows(Bytes::kControl));
  EXPECT_FALSE(allows('<') || allows(Bytes::kEnd));
  EXPECT_TRUE(matcher->accept(Bytes::kControl));
  EXPECT_TRUE(allows('"') && allows(Bytes::kEnd));
  EXPECT_TRUE(matcher->accept('"'));
  EXPECT_TRUE(allows('x'));
  EXPECT_FALSE(allows(Bytes::kControl) || allows(0xFF));
  EXPECT_FALSE(matcher->accept(Bytes::kControl));
}

}  // namespace
}  // namespace tempo9::grammar
