#include "chat/parsers/json_value.h"

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"

namespace tempo9::chat {
namespace {

TEST(JsonValue, IsStrict) {
  for (const std::string_view text : {"{}", "[]", "0", "-0.5e-3", "1E+9", "true", "null",
                                      R"("a\u00e9\ud83d\ude00\/")", R"({"a": [1, {"b": ""}]})", "[1 , 2 ]"})
    EXPECT_EQ(read_whole_json(text), text);
  EXPECT_EQ(read_whole_json("\"a\nb\""), R"("a\nb")");
  for (const std::string_view text : {"",
                                      " 1",
                                      "1 ",
                                      "01",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "1e",
                                      "1e999",
                                      "True",
                                      "nul",
                                      "nulll",
                                      "{",
                                      "[1,]",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "{\"a\" 1}",
                                      R"({"a":1,"a":2})",
                                      R"({"a":1,"\u0061":2})",
                                      R"("\x")",
                                      R"("\u12")",
                                      R"("\ud83d")",
                                      R"("\ude00")",
                                      R"("\ud83dx")",
                                      "\"",
                                      "{}{}",
                                      "'a'"})
    EXPECT_EQ(read_whole_json(text), "");
}

TEST(JsonValue, DepthIsBounded) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NE(read_whole_json(nested(limits::kMaxJsonDepth)), "");
  EXPECT_EQ(read_whole_json(nested(limits::kMaxJsonDepth + 1)), "");
  EXPECT_EQ(read_whole_json(std::string(1'000'000, '[')), "");
}

}  // namespace
}  // namespace tempo9::chat
