#include "model/model.h"

#include <gtest/gtest.h>

#include "model/testing/tiny_llama.h"

namespace tempo9::model {
namespace {

using testing::TinyLlama;

std::string refusal(const TinyLlama& model) {
  const std::vector<uint8_t> bytes = model.build();
  const auto file = gguf::File::parse(bytes);
  EXPECT_TRUE(file.has_value()) << file.error().message;
  const auto checked = check_model(**file);
  const auto device = backend::create_device("reference", {}).value();
  const auto loaded = load_model(**file, *device, {}, {});
  EXPECT_EQ(checked.has_value(), loaded.has_value());
  if (checked) return "";
  EXPECT_EQ(checked.error().message, loaded.error().message);
  return checked.error().message;
}

TEST(ModelTest, AWholeFileLoads) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.tied = false, .rope_divisors = true}), "");
}
TEST(ModelTest, AMissingTensorIsNamed) {
  EXPECT_NE(refusal({.without = "blk.1.ffn_up.weight"}).find("'blk.1.ffn_up.weight'"), std::string::npos);
}
TEST(ModelTest, ASuperfluousTensorIsNamed) {
  EXPECT_NE(refusal({.with_extra = "blk.0.attn_q_norm.weight"}).find("'blk.0.attn_q_norm.weight'"),
            std::string::npos);
}
TEST(ModelTest, AWrongShapeIsNamedWithBothShapes) {
  const std::string message = refusal({.misshapen = "blk.0.attn_k.weight"});
  EXPECT_NE(message.find("'blk.0.attn_k.weight' has shape [64, 33], expected [64, 32]"), std::string::npos)
      << message;
}
TEST(ModelTest, PartsOfOtherModalitiesAreLeftAlone) {
  EXPECT_EQ(refusal({.with_extra = "v.blk.0.attn_q.weight"}), "");
}

TEST(ModelTest, AnUnknownArchitectureIsNamed) {
  std::vector<uint8_t> bytes = TinyLlama{}.build();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t at = text.find("llama", text.find("general.architecture"));
  bytes[at] = 'x';
  const auto file = gguf::File::parse(bytes).value();
  EXPECT_NE(check_model(*file).error().message.find("'xlama'"), std::string::npos);
}

}  // namespace
}  // namespace tempo9::model
