#include "chat/reasoning_effort.h"

#include <gtest/gtest.h>

namespace tempo9::chat {
namespace {

TEST(ReasoningEffortTest, ATemplateThatTakesEveryWordGetsTheUsualOnes) {
  for (const auto& [asked, given] :
       {std::pair("minimal", "low"), std::pair("low", "low"), std::pair("medium", "medium"),
        std::pair("high", "high"), std::pair("xhigh", "high"), std::pair("max", "high"),
        std::pair("ultra", "ultra")})
    EXPECT_EQ(choose_effort(asked, {}), given);
}

TEST(ReasoningEffortTest, OtherwiseTheNearestThatIsAccepted) {
  const std::vector<std::string> three = {"low", "medium", "xhigh"};
  EXPECT_EQ(choose_effort("minimal", three), "low");
  EXPECT_EQ(choose_effort("high", three), "xhigh");
  EXPECT_EQ(choose_effort("max", three), "xhigh");
  EXPECT_EQ(choose_effort("medium", {"low", "high"}), "high");
  EXPECT_EQ(choose_effort("ultra", three), std::nullopt);
}

}  // namespace
}  // namespace tempo9::chat
