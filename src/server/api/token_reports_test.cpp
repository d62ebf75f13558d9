#include "server/api/token_reports.h"

#include <gtest/gtest.h>

#include "engine/testing/byte_tokenizer.h"

namespace tempo9::server {
namespace {

using engine::testing::ByteTokenizer;

const ByteTokenizer& tokenizer() {
  static const ByteTokenizer instance({{"one"}, {" two"}, {"é"}, {"<|tag|>", true}});
  return instance;
}

std::vector<std::string> texts(const std::vector<TokenReport>& reports) {
  std::vector<std::string> result;
  for (const TokenReport& report : reports) result.push_back(report.chosen.bytes);
  return result;
}

using Texts = std::vector<std::string>;

TEST(TokenReports, ATokenComesOutWithItsText) {
  TokenReports reports;
  reports.add(tokenizer(), {ByteTokenizer::id(0), -0.5f, {{ByteTokenizer::id(0), -0.5f}, {'x', -2.0f}}});
  reports.add(tokenizer(), {ByteTokenizer::id(1), -1.0f, {}});
  EXPECT_EQ(texts(reports.release(2)), Texts{});  // "on": the token's text is not complete
  const auto first = reports.release(2);
  ASSERT_EQ(texts(first), Texts{"one"});
  EXPECT_EQ(first[0].chosen.logprob, -0.5f);
  ASSERT_EQ(first[0].top.size(), 2u);
  EXPECT_EQ(first[0].top[1].bytes, "x");
  EXPECT_EQ(texts(reports.release_rest(3, false)), Texts{" two"});
}

TEST(TokenReports, AStopStringDropsWhatNeverCameOut) {
  TokenReports reports;
  for (const TokenId token : {ByteTokenizer::id(0), ByteTokenizer::id(1), ByteTokenizer::id(0)})
    reports.add(tokenizer(), {token, 0, {}});
  EXPECT_EQ(texts(reports.release_rest(5, true)), (Texts{"one", " two"}));  // cut inside the second
}

TEST(TokenReports, WithoutAStopNothingIsDropped) {
  TokenReports reports;
  reports.add(tokenizer(), {0xE2, 0, {}});  // half a character: replaced at the end
  reports.add(tokenizer(), {ByteTokenizer::id(3), 0, {}});
  EXPECT_EQ(texts(reports.release_rest(3, false)), (Texts{"\xE2", "<|tag|>"}));
}

TEST(TokenReports, CountsCharactersBeforeEachToken) {
  TokenReports reports;
  for (const TokenId token : {ByteTokenizer::id(2), ByteTokenizer::id(3), ByteTokenizer::id(0), TokenId{'x'}})
    reports.add(tokenizer(), {token, 0, {}});
  const auto out = reports.release_rest(6, false);
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[1].text_offset, 1u);
  EXPECT_EQ(out[2].text_offset, 1u);  // a control token has no text in the reply
  EXPECT_EQ(out[3].text_offset, 4u);
}

}  // namespace
}  // namespace tempo9::server
