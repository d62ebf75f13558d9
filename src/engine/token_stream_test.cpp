#include "engine/token_stream.h"

#include <gtest/gtest.h>

#include "engine/testing/byte_tokenizer.h"

namespace tempo9::engine {
namespace {

using testing::ByteTokenizer;
using Piece = ByteTokenizer::Piece;

struct Reply {
  std::string text, matched;
  bool stopped = false;
};

// Pushes the pieces in order, as one token each, until the stream stops.
Reply run(const std::vector<std::string>& pieces, const std::vector<std::string>& stops) {
  std::vector<Piece> vocabulary;
  for (const std::string& piece : pieces) vocabulary.push_back({piece});
  const ByteTokenizer tokenizer(vocabulary);
  TokenStream stream(tokenizer, stops);
  Reply reply;
  for (size_t i = 0; i < pieces.size() && !reply.stopped; ++i) {
    const TokenStream::Piece piece = stream.push(ByteTokenizer::id(i));
    reply.text += piece.text;
    reply.stopped = piece.stopped;
  }
  reply.text += stream.finish().text;
  reply.matched = stream.matched();
  return reply;
}

std::vector<std::string> cut(const std::string& text, size_t width) {
  std::vector<std::string> pieces;
  for (size_t at = 0; at < text.size(); at += width) pieces.push_back(text.substr(at, width));
  return pieces;
}

TEST(TokenStream, GivesTheWholeTextWithoutStopStrings) {
  const Reply reply = run({"Hel", "lo", " wör", "ld"}, {});
  EXPECT_EQ(reply.text, "Hello wörld");
  EXPECT_FALSE(reply.stopped);
  EXPECT_EQ(reply.matched, "");
}

TEST(TokenStream, CutsAtAStopStringHoweverTheTextIsSplit) {
  const std::string text = "one, two — three. END of it";
  for (size_t width = 1; width <= text.size(); ++width) {
    const Reply reply = run(cut(text, width), {"nothing", ". END"});
    EXPECT_EQ(reply.text, "one, two — three") << width;
    EXPECT_EQ(reply.matched, ". END") << width;
    EXPECT_TRUE(reply.stopped) << width;
  }
}

TEST(TokenStream, GivesBackWhatOnlyLookedLikeAStopString) {
  for (size_t width = 1; width <= 12; ++width) {
    EXPECT_EQ(run(cut("aab aac aa", width), {"aaa", "aad"}).text, "aab aac aa") << width;
    EXPECT_EQ(run(cut("\n\nUse", width), {"\n\nUser:"}).text, "\n\nUse") << width;
  }
}

TEST(TokenStream, FindsAStopStringThatOverlapsAFalseStart) {
  for (size_t width = 1; width <= 8; ++width) {
    const Reply reply = run(cut("xaaab...", width), {"aab"});
    EXPECT_EQ(reply.text, "xa") << width;
    EXPECT_TRUE(reply.stopped) << width;
  }
}

TEST(TokenStream, TheStopStringCompleteFirstWins) {
  for (size_t width = 1; width <= 6; ++width) {
    EXPECT_EQ(run(cut("abcdef", width), {"bcde", "c"}).text, "ab") << width;
    EXPECT_EQ(run(cut("abcdef", width), {"cd", "bcd"}).text, "a") << width;
    EXPECT_EQ(run(cut("abcdef", width), {"cd", "bcd"}).matched, "bcd") << width;
  }
}

TEST(TokenStream, HoldsBackOnlyWhatIsUndecided) {
  const ByteTokenizer tokenizer({{"text"}, {" ##"}, {" more"}});
  TokenStream stream(tokenizer, {"###"});
  EXPECT_EQ(stream.push(ByteTokenizer::id(0)).text, "text");
  EXPECT_EQ(stream.push(ByteTokenizer::id(1)).text, " ");
  EXPECT_EQ(stream.push(ByteTokenizer::id(2)).text, "## more");
  EXPECT_EQ(stream.finish().text, "");
}

TEST(TokenStream, GivesNothingAfterTheStop) {
  const ByteTokenizer tokenizer({{"a STOP b"}, {"c"}});
  TokenStream stream(tokenizer, {"STOP"});
  EXPECT_EQ(stream.push(ByteTokenizer::id(0)).text, "a ");
  const TokenStream::Piece later = stream.push(ByteTokenizer::id(1));
  EXPECT_EQ(later.text, "");
  EXPECT_TRUE(later.stopped);
  EXPECT_EQ(stream.finish().text, "");
}

TEST(TokenStream, NeverSplitsACharacter) {
  const ByteTokenizer tokenizer;
  TokenStream stream(tokenizer, {"é"});
  std::string text;
  for (const char byte : std::string("a☃è")) {
    const std::string piece = stream.push(static_cast<unsigned char>(byte)).text;
    EXPECT_TRUE(piece.empty() || piece == "a" || piece == "☃" || piece == "è") << piece;
    text += piece;
  }
  EXPECT_EQ(text + stream.finish().text, "a☃è");
}

TEST(TokenStream, AnUnfinishedCharacterBecomesAReplacementAtTheEnd) {
  const ByteTokenizer tokenizer;
  TokenStream stream(tokenizer, {});
  EXPECT_EQ(stream.push('a').text, "a");
  EXPECT_EQ(stream.push(0xE2).text, "");
  EXPECT_EQ(stream.finish().text, "\uFFFD");
}

TEST(TokenStream, EmptyStopStringsAreIgnored) {
  EXPECT_EQ(run({"some", " text"}, {""}).text, "some text");
}

TEST(TokenStream, ReportsTheControlTokensThatItIsToldTo) {
  const ByteTokenizer tokenizer({{"<shown>", true}, {"<hidden>", true}, {"<shown>"}});
  TokenStream stream(tokenizer, {"ab", "cd"}, {"<shown>"});
  EXPECT_EQ(stream.push('a').text, "");
  const TokenStream::Piece piece = stream.push(ByteTokenizer::id(0));
  EXPECT_EQ(piece.text, "a");  // what follows is no part of a stop string that began before
  EXPECT_EQ(piece.control, "<shown>");
  EXPECT_EQ(stream.push('b').text, "b");
  EXPECT_EQ(stream.push(ByteTokenizer::id(2)).text, "<shown>");  // the same as plain text
  EXPECT_EQ(stream.push(0xE2).text, "");
  EXPECT_EQ(stream.push(ByteTokenizer::id(0)).text, "\uFFFD");
  EXPECT_EQ(stream.push('c').text, "");
  const TokenStream::Piece hidden = stream.push(ByteTokenizer::id(1));
  EXPECT_EQ(hidden.text, "");
  EXPECT_EQ(hidden.control, "");
  EXPECT_TRUE(stream.push('d').stopped);
  EXPECT_EQ(stream.push(ByteTokenizer::id(0)).control, "");
}

TEST(TokenStream, HearsNoStopStringWhereNoTextOfTheReplyStands) {
  const ByteTokenizer tokenizer({{"<h>", true}, {"final"}, {"<m>", true}, {"a final"}});
  TokenStream stream(tokenizer, {"final"}, {"<h>", "<m>"}, {"<h>"});
  std::string text;
  for (const size_t token : {0, 1, 2}) {
    const TokenStream::Piece piece = stream.push(ByteTokenizer::id(token));
    EXPECT_FALSE(piece.stopped) << token;
    text += piece.text;
  }
  EXPECT_EQ(text, "final");
  const TokenStream::Piece last = stream.push(ByteTokenizer::id(3));
  EXPECT_TRUE(last.stopped);
  EXPECT_EQ(last.text, "a ");
}

}  // namespace
}  // namespace tempo9::engine
