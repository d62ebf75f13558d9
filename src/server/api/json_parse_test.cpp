#include "server/api/json_parse.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace tempo9::server {
namespace {

std::string error_for(std::string_view text) {
  const auto result = parse_json(text);
  return result ? "accepted" : result.error().message;
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  const std::string text = R"({"a":[1,-2,2.5,true,false,null,"é\n",{},[]],"b":18446744073709551615})";
  const auto value = parse_json(text);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(dump_json(*value), text);
}

TEST(ParseJson, KeepsTheOrderOfKeys) {
  EXPECT_EQ(dump_json(*parse_json(R"({"z":1,"a":2,"m":{"y":1,"b":2}})")),
            R"({"z":1,"a":2,"m":{"y":1,"b":2}})");
}

TEST(ParseJson, SaysWhereTheTextIsWrong) {
  EXPECT_TRUE(error_for("{x}").starts_with("the body is not valid JSON: line 1, column 2: syntax error"));
  EXPECT_TRUE(
      error_for("{\n \"a\": 1,\n \"b\": }").starts_with("the body is not valid JSON: line 3, column 7: "));
  for (const char* text : {"{", "[1,", "\"", "nul", "{\"a\" 1}", "[1]]", "1e999", "\"\xff\"", "'a'", "01"})
    EXPECT_TRUE(error_for(text).starts_with("the body is not valid JSON: line 1, column ")) << text;
  EXPECT_EQ(error_for(""), "the body is empty; JSON was expected");
}

TEST(ParseJson, MessagesStayShort) {
  EXPECT_LT(error_for("[\"" + std::string(100000, 'x')).size(), 500u);
  const std::string key(100000, 'k');
  EXPECT_LT(error_for("{\"" + key + "\":1,\"" + key + "\":2}").size(), 500u);
}

TEST(ParseJson, RefusesAKeyThatOccursTwice) {
  EXPECT_EQ(error_for(R"({"a":1,"b":{"c":1,"c":2}})"),
            "the body's JSON is refused: the key \"c\" occurs twice in one object");
}

TEST(ParseJson, LimitsTheDepth) {
  const size_t most = limits::kMaxJsonDepth;
  EXPECT_EQ(error_for(std::string(most, '[') + std::string(most, ']')), "accepted");
  EXPECT_NE(error_for(std::string(most + 1, '[') + std::string(most + 1, ']')).find("levels deep"),
            std::string::npos);
  EXPECT_NE(error_for(std::string(10 << 20, '[')).find("levels deep"), std::string::npos);
}

TEST(ParseJson, LimitsTheNumberOfValues) {
  std::string text = "[0";
  for (size_t i = 0; i < limits::kMaxJsonValues; ++i) text += ",0";
  EXPECT_NE(error_for(text + "]").find("more than 1048576 values"), std::string::npos);
}

TEST(ParseJson, ManyKeysTakeNoLongerThanManyElements) {
  std::string text = "{";
  for (int i = 0; i < 50000; ++i) text += fmt::format("\"{}\":0,", i);
  const auto value = parse_json(text + "\"end\":1}");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->size(), 50001u);
}

TEST(DumpJson, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(dump_json(Json("a\xff")), "\"a\uFFFD\"");
}

}  // namespace
}  // namespace tempo9::server
