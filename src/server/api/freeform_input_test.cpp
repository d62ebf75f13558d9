#include "server/api/freeform_input.h"

#include <gtest/gtest.h>

#include "server/api/json_parse.h"

namespace tempo9::server {
namespace {

std::string taken_whole(const std::string& json) {
  FreeformInput input;
  std::string text = input.push(json);
  return text + input.finish();
}

// However it is cut, it says the same.
std::string taken(const std::string& json) {
  const std::string whole = taken_whole(json);
  for (size_t cut = 0; cut <= json.size(); ++cut) {
    FreeformInput input;
    std::string text = input.push(json.substr(0, cut));
    text += input.push(json.substr(cut));
    text += input.finish();
    EXPECT_EQ(text, whole) << json << " cut at " << cut;
  }
  FreeformInput input;
  std::string text;
  for (const char c : json) text += input.push(std::string(1, c));
  text += input.finish();
  EXPECT_EQ(text, whole) << json;
  return whole;
}

TEST(FreeformInput, IsWhatStandsInTheString) {
  for (const std::string text :
       {"", "*** Begin Patch\n*** Add File: a.txt\n+\"quoted\" \\ \t/\n*** End Patch\n",
        "Grüße — 你好, 🙂!", "\x01\x1f\x7f\b\f\r", "{\"input\": \"x\"}", "\\u0041 \\\\ \\\"",
        "🙂🙃\xEF\xBF\xBD"}) {
    const Json object = {{"input", text}};
    EXPECT_EQ(taken(object.dump()), text);
    EXPECT_EQ(taken(object.dump(2)), text);
    EXPECT_EQ(taken(object.dump(-1, ' ', true)), text);  // \u escapes, surrogates too
  }
}

TEST(FreeformInput, ComesAsSoonAsItIsKnown) {
  FreeformInput input;
  EXPECT_EQ(input.push("{\"in"), "");
  EXPECT_EQ(input.push("put\": \"*** Be"), "*** Be");
  EXPECT_EQ(input.push("gin\\"), "gin");
  EXPECT_EQ(input.push("n\\ud83d"), "\n");
  EXPECT_EQ(input.push("\\ude42x"), "🙂x");
  EXPECT_EQ(input.push("\"}"), "");
  EXPECT_EQ(input.finish(), "");
}

TEST(FreeformInput, StandsBesideOtherMembers) {
  EXPECT_EQ(
      taken(R"({"n":{"input":"no","m":["input",":",{"input":"no"}]},"l":"\"input\":\"no\"","input":"yes"})"),
      "yes");
  EXPECT_EQ(taken(R"({"input":"yes","input2":"no","reason":"{\"input\":\"no\"}"})"), "yes");
  EXPECT_EQ(taken(R"({"x":"input","input":"yes"})"), "yes");
}

TEST(FreeformInput, IsAllOfItWhereThereIsNoSuchString) {
  for (const std::string json : {R"({"patch":"x"})", "{}", R"({"input":{"input":"x"}})", R"({"input":["x"]})",
                                 R"({"inputs":"x"})", R"({"input":17,"more":"x"})"})
    EXPECT_EQ(taken(json), json);
}

TEST(FreeformInput, IsUtf8EvenWhereTheEscapesAreNot) {
  const std::string half = "\xEF\xBF\xBD";
  EXPECT_EQ(taken(R"({"input":"a\ud83db"})"), "a" + half + "b");
  EXPECT_EQ(taken(R"({"input":"\ud83d\ud83d\ude42"})"), half + "🙂");
  EXPECT_EQ(taken(R"({"input":"\ude42"})"), half);
  EXPECT_EQ(taken(R"({"input":"\ud83d\n"})"), half + "\n");
  EXPECT_EQ(taken(R"({"input":"\ud83d"})"), half);
}

}  // namespace
}  // namespace tempo9::server
