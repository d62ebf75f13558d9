// Pieces by family, and time. Whether a family's patterns are the right ones is for the comparisons with
// reference tokenizers under tests/.
#include "text/pre_tokenizers.h"

#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "text/composition.h"
#include "text/splitter.h"

namespace tempo9::text {
namespace {

std::vector<std::string> cut(std::string_view family, std::string_view text) {
  const PreTokenizer* pre_tokenizer = find_pre_tokenizer(family);
  EXPECT_NE(pre_tokenizer, nullptr) << family;
  const auto splitter = Splitter::make(pre_tokenizer->passes);
  EXPECT_TRUE(splitter.has_value()) << splitter.error().message;
  std::vector<std::string> pieces;
  size_t begin = 0;
  for (const size_t end : splitter->split(text)) {
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  EXPECT_EQ(begin, text.size()) << "not all of the text is in a piece";
  return pieces;
}

using Pieces = std::vector<std::string>;

TEST(PreTokenizers, WordsAndSpaces) {
  EXPECT_EQ(cut("gpt-2", "it's  a 12 test"), (Pieces{"it", "'s", " ", " a", " 12", " test"}));
  EXPECT_EQ(cut("gpt-2", "end  "), (Pieces{"end", "  "}));
  EXPECT_EQ(cut("gpt-2", "a\n\nb"), (Pieces{"a", "\n", "\n", "b"}));
  EXPECT_EQ(cut("llama-bpe", "a\n\nb"), (Pieces{"a", "\n\n", "b"}));
  EXPECT_EQ(cut("llama-bpe", "IT'S 'Tis"), (Pieces{"IT", "'S", " '", "Tis"}));
  EXPECT_EQ(cut("llama-bpe", "(word) x"), (Pieces{"(word", ")", " x"}));
}

TEST(PreTokenizers, Digits) {
  EXPECT_EQ(cut("gpt-2", "a 1234"), (Pieces{"a", " 1234"}));
  EXPECT_EQ(cut("smollm", "a 1234"), (Pieces{"a", " ", "1", "2", "3", "4"}));
  EXPECT_EQ(cut("llama-bpe", "a 1234"), (Pieces{"a", " ", "123", "4"}));
  EXPECT_EQ(cut("qwen2", "a 12"), (Pieces{"a", " ", "1", "2"}));
  EXPECT_EQ(cut("falcon", "a 12345"), (Pieces{"a", " ", "123", "45"}));
  EXPECT_EQ(cut("deepseek-llm", "12"), (Pieces{"1", "2"}));
  EXPECT_EQ(cut("deepseek-v3", "12345"), (Pieces{"123", "45"}));
  EXPECT_EQ(cut("default", "ab12345"), (Pieces{"ab", "123", "45"}));
}

TEST(PreTokenizers, CaseAndMarks) {
  EXPECT_EQ(cut("gpt-4o", "HTTPServer isn't"), (Pieces{"HTTPServer", " isn't"}));
  EXPECT_EQ(cut("gpt-4o", "fooBar a/\n"), (Pieces{"foo", "Bar", " a", "/\n"}));
  EXPECT_EQ(cut("tekken", "fooBar it's"), (Pieces{"foo", "Bar", " it", "'s"}));
  EXPECT_EQ(cut("qwen2", "e\u0301a"), (Pieces{"e", "\u0301a"}));
  EXPECT_EQ(cut("qwen35", "e\u0301a"), (Pieces{"e\u0301a"}));
}

TEST(PreTokenizers, FalconSeesBytesAsItsAlphabetSpellsThem) {
  // The second byte of U+00FC is BC, a fraction in that alphabet.
  EXPECT_EQ(cut("falcon", "f\u00FCr"), (Pieces{"f\xC3", "\xBC", "r"}));
}

TEST(PreTokenizers, TrailingSpaceOfDeepSeek) {
  EXPECT_EQ(cut("deepseek-llm", "\u4E2D  b"), (Pieces{"\u4E2D", " ", " b"}));
  EXPECT_EQ(cut("deepseek-llm", "\u4E2D \u4E2D"), (Pieces{"\u4E2D", " ", "\u4E2D"}));
}

TEST(PreTokenizers, WhiteSpaceIsUnicodes) {
  EXPECT_EQ(cut("gpt-2", "a\u0085b"), (Pieces{"a", "\u0085", "b"})) << "next line is white space";
  EXPECT_EQ(cut("gpt-2", ".\u180E."), (Pieces{".\u180E."})) << "the Mongolian vowel separator is not";
  EXPECT_EQ(cut("gpt-2", ".\u3000."), (Pieces{".", "\u3000", "."}));
}

TEST(PreTokenizers, UnknownNamesAreUnknown) {
  EXPECT_EQ(find_pre_tokenizer("llama-4o"), nullptr);
  EXPECT_EQ(find_pre_tokenizer(""), nullptr);
}

// Texts on which a careless pattern takes time in the square of their length: at this length minutes.
std::vector<std::string> make_hard_texts() {
  constexpr size_t kLength = 1 << 18;
  const auto repeat = [](std::string_view part) {
    std::string text;
    while (text.size() < kLength) text += part;
    return text;
  };
  std::vector<std::string> texts;
  for (const std::string_view part : {"a",
                                      "A",
                                      "Aa",
                                      "1",
                                      " ",
                                      "\n",
                                      "\t",
                                      " \n",
                                      "  x",
                                      "!",
                                      "'",
                                      "/",
                                      "\u00E9",
                                      "\u0301",
                                      "a\u0301\u0323",
                                      "\u4E2D",
                                      "\u00A0",
                                      "\u0085",
                                      "\u01C5",
                                      "\u02B0",
                                      "\x01",
                                      "\u1100\u1161\u11A8"})
    texts.push_back(repeat(part));
  texts.push_back(repeat(" ") + "x");
  texts.push_back("!" + repeat("A"));
  texts.push_back(repeat("A") + "a");
  texts.push_back(repeat("\n") + "x");
  return texts;
}

class EveryFamily : public ::testing::TestWithParam<std::string_view> {};

TEST_P(EveryFamily, TakesLinearTime) {
  for (const std::string& text : make_hard_texts()) {
    const std::clock_t start = std::clock();
    cut(GetParam(), text);
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 3.0) << text.substr(0, 8);
  }
}

INSTANTIATE_TEST_SUITE_P(PreTokenizers, EveryFamily,
                         ::testing::Values("default", "gpt-2", "smollm", "falcon", "llama-bpe", "qwen2",
                                           "qwen35", "gpt-4o", "tekken", "deepseek-llm", "deepseek-coder",
                                           "deepseek-v3"));

TEST(Composition, ComposesAndOrdersMarks) {
  EXPECT_EQ(compose("plain \u00E9"), "plain \u00E9");
  EXPECT_EQ(compose("e\u0301"), "\u00E9");
  EXPECT_EQ(compose("a\u0301\u0323"), "\u1EA1\u0301") << "the mark below goes first, and joins";
  EXPECT_EQ(compose("\u1100\u1161\u11A8"), "\uAC01");
  EXPECT_EQ(compose("\u212B"), "\u00C5");
  EXPECT_EQ(compose("\u0958"), "\u0915\u093C") << "excluded from composition";
}

TEST(Composition, LeavesOtherBytesAlone) {
  EXPECT_EQ(compose("e\u0301\xFF"
                    "e\u0301"),
            "\u00E9\xFF\u00E9");
  EXPECT_EQ(compose("e\xFF\u0301"), "e\xFF\u0301") << "a mark does not reach across";
  EXPECT_EQ(compose("\xF0\x9F"), "\xF0\x9F");
}

TEST(Composition, TakesLinearTime) {
  std::string marks = "a";
  for (int i = 0; i < 100000; ++i) marks += i % 2 == 0 ? "\u0301" : "\u0323";
  const std::clock_t start = std::clock();
  compose(marks);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 3.0);
}

}  // namespace
}  // namespace tempo9::text
