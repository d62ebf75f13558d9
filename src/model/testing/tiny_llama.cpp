#include "model/testing/tiny_llama.h"

#include <cmath>
#include <fstream>
#include <random>

#include "gguf/writer.h"

namespace tempo9::model::testing {
namespace {

std::string utf8(int code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
}

// The 256 bytes in the alphabet of byte-level BPE: printable ones stand for themselves, the others for code
// points from 256 on. (Radford et al., "Language Models are Unsupervised Multitask Learners", released
// encoder.)
std::vector<std::string> vocabulary() {
  std::vector<std::string> tokens;
  int next = 256;
  for (int b = 0; b < 256; ++b) {
    const bool printable = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || (b >= 0xae && b <= 0xff);
    tokens.push_back(utf8(printable ? b : next++));
  }
  tokens.emplace_back("ab");
  for (const char* control : {"<|endoftext|>", "<|im_end|>", "<|im_start|>", "<|pad|>"})
    tokens.emplace_back(control);
  return tokens;
}

void add_metadata(gguf::Writer& writer, const TinyLlama& m) {
  const auto u = [](int n) { return static_cast<uint32_t>(n); };
  writer.set("general.architecture", std::string_view("llama"));
  writer.set("general.name", std::string_view("Tiny Llama"));
  writer.set("llama.block_count", u(m.layers));
  writer.set("llama.embedding_length", u(m.embedding));
  writer.set("llama.feed_forward_length", u(m.feed_forward));
  writer.set("llama.context_length", u(m.context));
  writer.set("llama.attention.head_count", u(m.query_heads));
  writer.set("llama.attention.head_count_kv", u(m.kv_heads));
  writer.set("llama.attention.key_length", u(m.head_size));
  writer.set("llama.attention.value_length", u(m.head_size));
  writer.set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.set("llama.rope.freq_base", 10000.0f);
  writer.set("tokenizer.ggml.model", std::string_view("gpt2"));
  writer.set("tokenizer.ggml.pre", std::string_view("smollm"));
  writer.set_array("tokenizer.ggml.tokens", vocabulary());
  std::vector<int32_t> types(257, 1);
  types.resize(kTinyVocabulary, 3);
  writer.set_array("tokenizer.ggml.token_type", types);
  writer.set_array("tokenizer.ggml.merges", std::vector<std::string>{"a b"});
  writer.set("tokenizer.ggml.eos_token_id", u(kTinyEndOfTurn));
  writer.set("tokenizer.ggml.bos_token_id", u(257));
  writer.set("tokenizer.ggml.add_bos_token", false);
  writer.set(
      "tokenizer.chat_template",
      std::string_view(
          "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + "
          "'<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% "
          "endif %}"));
}

class Tensors {
 public:
  Tensors(gguf::Writer& writer, const TinyLlama& m) : writer_(writer), m_(m), random_(m.seed) {}

  void matrix(const std::string& name, int columns, int rows) {
    add(name, m_.format, columns, rows, 2.0f / std::sqrt(static_cast<float>(columns)), 0);
  }
  void vector(const std::string& name, int n) { add(name, quant::Format::kF32, n, 1, 0.2f, 1); }
  std::vector<std::vector<uint8_t>> data;

 private:
  void add(const std::string& name, quant::Format format, int columns, int rows, float size, float mean) {
    if (name == m_.without) return;
    if (name == m_.misshapen) ++rows;
    std::vector<uint64_t> shape = {static_cast<uint64_t>(columns)};
    if (rows > 1) shape.push_back(static_cast<uint64_t>(rows));
    const quant::FormatInfo& info = quant::format_info(format);
    writer_.add_tensor(name, static_cast<uint32_t>(format), shape);
    std::normal_distribution<float> normal(mean, size);
    std::vector<float> values(static_cast<size_t>(columns) * static_cast<size_t>(rows));
    for (float& v : values) v = normal(random_);
    std::vector<uint8_t> bytes(info.row_bytes(values.size()));
    for (size_t b = 0; b * static_cast<size_t>(info.block_columns) < values.size(); ++b)
      info.encode(values.data() + b * static_cast<size_t>(info.block_columns),
                  bytes.data() + b * static_cast<size_t>(info.block_bytes));
    data.push_back(std::move(bytes));
  }
  gguf::Writer& writer_;
  const TinyLlama& m_;
  std::mt19937 random_;
};

}  // namespace

std::vector<uint8_t> TinyLlama::build() const {
  gguf::Writer writer;
  add_metadata(writer, *this);
  Tensors tensors(writer, *this);
  tensors.matrix("token_embd.weight", embedding, kTinyVocabulary);
  tensors.vector("output_norm.weight", embedding);
  if (!tied) tensors.matrix("output.weight", embedding, kTinyVocabulary);
  if (rope_divisors) tensors.vector("rope_freqs.weight", head_size / 2);
  for (int i = 0; i < layers; ++i) {
    const auto name = [i](const char* part) { return fmt::format("blk.{}.{}.weight", i, part); };
    tensors.vector(name("attn_norm"), embedding);
    tensors.matrix(name("attn_q"), embedding, query_heads * head_size);
    tensors.matrix(name("attn_k"), embedding, kv_heads * head_size);
    tensors.matrix(name("attn_v"), embedding, kv_heads * head_size);
    tensors.matrix(name("attn_output"), query_heads * head_size, embedding);
    tensors.vector(name("ffn_norm"), embedding);
    tensors.matrix(name("ffn_gate"), embedding, feed_forward);
    tensors.matrix(name("ffn_up"), embedding, feed_forward);
    tensors.matrix(name("ffn_down"), feed_forward, embedding);
  }
  if (!with_extra.empty()) tensors.vector(with_extra, embedding);
  return writer.to_bytes(tensors.data);
}

std::string TinyLlama::write(const std::string& path) const {
  const std::vector<uint8_t> bytes = build();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace tempo9::model::testing
