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
  Compiler compiler(bytes, std::chrono::milliseconds(0));
  const auto late = compile(compiler, schema_form({{"type", "object"}}, "tool 'slow'"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(late.error().message, "tool 'slow': it takes more than 0 seconds to compile");
}

TEST(Compiler, NamesWhatIsWrongWithAGrammar) {
  const Bytes bytes;
  Compiler compiler(bytes);
  const auto broken = compile(compiler, {Form::Kind::kLark, "start: missing", nullptr, "tool 'patch'"});
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

TEST(Matcher, AllowsControlTokensOnlyWhereTheyAreNamed) {
  const Bytes bytes;
  Compiler compiler(bytes);
  Form free{Form::Kind::kFreeText};
  free.words = {"x"};
  const auto compiled =
      compile(compiler, sequence_form({text_form("a<control>", {"<control>", "<none>"}), free}));
  ASSERT_TRUE(compiled) << compiled.error().message;
  auto matcher = Matcher::make(*compiled);
  ASSERT_TRUE(matcher);
  EXPECT_FALSE(testing::is_allowed(*matcher->allowed(), Bytes::kControl));
  EXPECT_TRUE(matcher->accept('a'));
  EXPECT_FALSE(testing::is_allowed(*matcher->allowed(), 'a'));
  EXPECT_TRUE(matcher->accept(Bytes::kControl));
  const TokenMask mask = *matcher->allowed();
  EXPECT_TRUE(testing::is_allowed(mask, 'a') && testing::is_allowed(mask, Bytes::kEnd));
  EXPECT_FALSE(testing::is_allowed(mask, 'x') || testing::is_allowed(mask, Bytes::kControl));
  EXPECT_FALSE(matcher->accept('x'));
}

}  // namespace
}  // namespace tempo9::grammar
