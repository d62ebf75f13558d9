// The real model of the `weights` tests: its header is read as its makers meant it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "gguf/describe.h"
#include "gguf/file.h"

namespace tempo9::gguf {
namespace {

TEST(Model, SmolLM2) {
  const char* path = std::getenv("TEMPO9_MODEL");
  ASSERT_NE(path, nullptr) << "TEMPO9_MODEL names no file";
  const auto opened = File::open(path);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  const File& file = **opened;
  EXPECT_EQ(*file.metadata().string("general.architecture"), "llama");
  EXPECT_EQ(*file.metadata().unsigned_integer("llama.block_count"), 30u);
  EXPECT_EQ(*file.metadata().real("llama.rope.freq_base"), 100000.0);
  EXPECT_FALSE(*file.metadata().boolean("tokenizer.ggml.add_bos_token"));
  EXPECT_EQ(file.metadata().strings("tokenizer.ggml.tokens")->size(), 49152u);
  EXPECT_EQ(file.metadata().strings("tokenizer.ggml.tokens")->at(1), "<|im_start|>");
  EXPECT_EQ(file.metadata().integers("tokenizer.ggml.token_type")->size(), 49152u);
  EXPECT_EQ(file.tensors().size(), 272u);
  EXPECT_TRUE(file.still_whole().has_value());
  EXPECT_NE(describe(file).find("Q4_1  210 tensors"), std::string::npos);
}

// Embedding rows of a trained model have about the same, small size: a wrong offset or layout would not.
TEST(Model, EmbeddingDecodesToSensibleNumbers) {
  const char* path = std::getenv("TEMPO9_MODEL");
  ASSERT_NE(path, nullptr) << "TEMPO9_MODEL names no file";
  const auto file = File::open(path);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Tensor* embedding = (*file)->find_tensor("token_embd.weight");
  ASSERT_NE(embedding, nullptr);
  const quant::FormatInfo* format = quant::find_format(embedding->type);
  ASSERT_NE(format, nullptr);
  const size_t columns = embedding->columns(), row_bytes = format->row_bytes(columns);
  ASSERT_EQ(embedding->data.size(), row_bytes * embedding->rows());
  std::vector<float> row(columns);
  for (uint64_t r = 100; r < embedding->rows(); r += 997) {
    quant::decode_row(format->format, embedding->data.data() + r * row_bytes, columns, row.data());
    double squares = 0;
    for (float v : row) squares += static_cast<double>(v) * v;
    const double root = std::sqrt(squares / static_cast<double>(columns));
    EXPECT_GT(root, 0.01) << r;
    EXPECT_LT(root, 1.0) << r;
  }
}

}  // namespace
}  // namespace tempo9::gguf
