#include "chat/jinja/text.h"

#include <gtest/gtest.h>

namespace tempo9::chat::jinja {
namespace {

using Marks = std::vector<Mark>;

TEST(TextTest, LiteralHasNoMarksAndContentOneForAll) {
  EXPECT_TRUE(Text("abc").marks().empty());
  EXPECT_EQ(Text::content("abc").marks(), (Marks{{0, 3}}));
  EXPECT_TRUE(Text::content("").marks().empty());
}

TEST(TextTest, AppendingKeepsMarksAndJoinsThoseThatTouch) {
  Text text("<");
  text.append(Text::content("ab"));
  text.append(Text::content("cd"));
  text.append(">");
  text.append(Text::content("e"));
  EXPECT_EQ(text.bytes(), "<abcd>e");
  EXPECT_EQ(text.marks(), (Marks{{1, 5}, {6, 7}}));
}

TEST(TextTest, SliceCutsMarks) {
  Text text = Text::content("ab");
  text.append("--");
  text.append(Text::content("cd"));
  EXPECT_EQ(text.slice(1, 5).marks(), (Marks{{0, 1}, {3, 4}}));
  EXPECT_TRUE(text.slice(2, 4).marks().empty());
  EXPECT_EQ(text.slice(4, 6).marks(), (Marks{{0, 2}}));
  EXPECT_TRUE(text.slice(3, 3).marks().empty());
}

TEST(TextTest, CanAppendItself) {
  Text text("x");
  text.append(Text::content("y"));
  text.append(text);
  EXPECT_EQ(text.bytes(), "xyxy");
  EXPECT_EQ(text.marks(), (Marks{{1, 2}, {3, 4}}));
}

TEST(TextTest, DerivedTextIsContentAsAWhole) {
  Text text("x");
  text.append(Text::content("y"));
  EXPECT_EQ(text.derive("long result").marks(), (Marks{{0, 11}}));
  EXPECT_TRUE(Text("x").derive("X").marks().empty());
}

}  // namespace
}  // namespace tempo9::chat::jinja
