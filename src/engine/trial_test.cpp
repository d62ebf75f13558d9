// The trial's texts, and greedy continuation over a tiny model.
#include "engine/trial.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/testing/byte_tokenizer.h"
#include "model/testing/tiny_llama.h"

namespace tempo9::engine {
namespace {

TEST(Trial, TheLongPromptHasTheLengthAskedForAndEndsWithItsBeginning) {
  const testing::ByteTokenizer tokenizer;
  for (const int tokens : {kLeastRecallTokens, 1000, 4096}) {
    const auto text = make_recall_text(tokenizer, tokens);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(text->ids.size(), static_cast<size_t>(tokens));
    const size_t passage = text->first_end, counted_again = text->ids.size() - text->again;
    EXPECT_GT(counted_again, passage / 2);
    EXPECT_TRUE(std::equal(text->ids.begin(), text->ids.begin() + static_cast<ptrdiff_t>(passage),
                           text->ids.end() - static_cast<ptrdiff_t>(passage)));
    EXPECT_GE(text->again, text->ids.size() - passage);
  }
}

TEST(Trial, ATooShortPromptIsRefused) {
  EXPECT_FALSE(make_recall_text(testing::ByteTokenizer(), kLeastRecallTokens - 1));
}

TEST(Trial, JourneysAreTheSameEverywhere) {
  EXPECT_EQ(journeys(2), journeys(3).substr(0, journeys(2).size()));
  EXPECT_EQ(std::count(prose().begin(), prose().end(), '\n'), 5);
  EXPECT_NE(journeys(20).find("Paris"), std::string::npos);
}

TEST(Evaluator, ContinuesWithTheMostProbableToken) {
  EngineOptions options;
  options.model_path = model::testing::TinyLlama{}.write(::testing::TempDir() + "tempo9_trial_test.gguf");
  auto evaluator = Evaluator::load(options, 64, {});
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  std::vector<TokenId> ids = {72, 101, 108, 108, 111};
  const size_t prompt = ids.size();
  const auto reply = (*evaluator)->continue_greedily(ids, 40);
  ASSERT_TRUE(reply) << reply.error().message;
  ASSERT_FALSE(reply->empty());
  ids.insert(ids.end(), reply->begin(), reply->end());
  const Status done = (*evaluator)->logits(ids, static_cast<int>(prompt) - 1, [&](int i, auto row) {
    const auto best = static_cast<TokenId>(std::max_element(row.begin(), row.end()) - row.begin());
    if (static_cast<size_t>(i) + 1 < ids.size()) {
      EXPECT_EQ(best, ids[static_cast<size_t>(i) + 1]) << "position " << i;
    } else if (reply->size() < 40) {
      EXPECT_TRUE((*evaluator)->tokenizer().ends_generation(best));
    }
  });
  EXPECT_TRUE(done) << done.error().message;
}

TEST(Evaluator, AReplyEndsWithTheContext) {
  EngineOptions options;
  options.model_path = model::testing::TinyLlama{}.write(::testing::TempDir() + "tempo9_trial_test.gguf");
  options.max_context = 64;
  auto evaluator = Evaluator::load(options, 64, {});
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  const std::vector<TokenId> prompt(60, 97);
  const auto reply = (*evaluator)->continue_greedily(prompt, 40);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_LE(reply->size(), 4u);
}

}  // namespace
}  // namespace tempo9::engine
