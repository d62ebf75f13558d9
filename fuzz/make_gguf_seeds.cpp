// Writes the seed corpus of the GGUF fuzzer: make_gguf_seeds fuzz/corpus/gguf
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/writer.h"
#include "quant/formats.h"

namespace {

using namespace tempo9;
using Bytes = std::vector<uint8_t>;
using Shape = std::vector<uint64_t>;

constexpr uint32_t kF32 = 0, kQ4_0 = 2, kI8 = 24, kI64 = 27;

// The writer's layout with data that depends on nothing.
Bytes finish(const gguf::Writer& writer) {
  std::vector<Bytes> data;
  for (uint64_t bytes : writer.tensor_bytes()) {
    data.emplace_back(bytes);
    for (uint64_t i = 0; i < bytes; ++i) data.back()[i] = static_cast<uint8_t>(i * 37 + data.size());
  }
  return writer.to_bytes(data);
}

template <class T>
Bytes patched(Bytes bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  return bytes;
}

Bytes scalars() {
  gguf::Writer writer;
  writer.set("general.architecture", "llama");
  writer.set("u8", uint8_t{255});
  writer.set("i8", int8_t{-128});
  writer.set("u16", uint16_t{65535});
  writer.set("i16", int16_t{-32768});
  writer.set("u32", uint32_t{4096});
  writer.set("i32", int32_t{-1});
  writer.set("f32", 10000.0f);
  writer.set("yes", true);
  writer.set("no", false);
  writer.set("u64", ~uint64_t{0});
  writer.set("i64", std::numeric_limits<int64_t>::min());
  writer.set("f64", 1e-300);
  writer.set("nan", std::numeric_limits<float>::quiet_NaN());
  writer.set("ünï", "\x1b[31m\xff\xe2\x80\xae\n");
  return finish(writer);
}

Bytes arrays() {
  gguf::Writer writer;
  writer.set_array("u8", std::vector<uint8_t>{1, 2, 3});
  writer.set_array("i8", std::vector<int8_t>{-1});
  writer.set_array("u16", std::vector<uint16_t>{});
  writer.set_array("i16", std::vector<int16_t>{1, -1});
  writer.set_array("u32", std::vector<uint32_t>{8, 8, 1, 8});
  writer.set_array("i32", std::vector<int32_t>{3, 1, 6});
  writer.set_array("f32", std::vector<float>{0.5f, -1});
  writer.set_array("flags", std::vector<bool>{true, false, true});
  writer.set_array("strings",
                   std::vector<std::string>{"", "a", "\xff\xfe", "long enough to be shortened, we hope"});
  writer.set_array("u64", std::vector<uint64_t>{uint64_t{1} << 63});
  writer.set_array("i64", std::vector<int64_t>{-1});
  writer.set_array("f64", std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
  return finish(writer);
}

Bytes tokenizer() {
  gguf::Writer writer;
  writer.set("general.architecture", "llama");
  writer.set("llama.block_count", uint32_t{2});
  writer.set("tokenizer.ggml.model", "gpt2");
  writer.set_array("tokenizer.ggml.tokens", std::vector<std::string>{"<s>", "Ġa", "b", "Ġab"});
  writer.set_array("tokenizer.ggml.token_type", std::vector<int32_t>{3, 1, 1, 1});
  writer.set_array("tokenizer.ggml.scores", std::vector<float>{0, -1, -2, -3});
  writer.set_array("tokenizer.ggml.merges", std::vector<std::string>{"Ġa b"});
  writer.set("tokenizer.chat_template", "{% for m in messages %}{{ m.content }}{% endfor %}");
  writer.add_tensor("token_embd.weight", kQ4_0, Shape{32, 4});
  writer.add_tensor("output_norm.weight", kF32, Shape{32});
  return finish(writer);
}

Bytes every_type() {
  gguf::Writer writer;
  for (uint32_t id = 0; id < 64; ++id) {
    const auto type = quant::find_type(id);
    if (!type || type->block_bytes == 0) continue;
    writer.add_tensor(fmt::format("t.{}", type->name), id, Shape{static_cast<uint64_t>(type->block_columns)});
  }
  return finish(writer);
}

Bytes aligned(uint32_t alignment) {
  gguf::Writer writer(alignment);
  writer.add_tensor("b", kI8, Shape{1});
  writer.add_tensor("a", kI64, Shape{1, 2, 1, 2});
  return finish(writer);
}

Bytes series(uint16_t number, uint16_t count) {
  gguf::Writer writer;
  writer.set("split.no", number);
  writer.set("split.count", count);
  writer.set("split.tensors.count", int32_t{1});
  writer.add_tensor("t", kF32, Shape{3});
  return finish(writer);
}

bool save(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_gguf_seeds FOLDER\n");
    return 2;
  }
  const Bytes small = aligned(32);
  const std::pair<const char*, Bytes> seeds[] = {
      {"scalars", scalars()},
      {"arrays", arrays()},
      {"tokenizer", tokenizer()},
      {"every_type", every_type()},
      {"aligned_8", aligned(8)},
      {"aligned_64", aligned(64)},
      {"series_first", series(0, 3)},
      {"series_of_none", series(0, 0)},
      {"nothing", finish(gguf::Writer())},
      {"version_2", patched(small, 4, uint32_t{2})},
      {"version_1", patched(small, 4, uint32_t{1})},
      {"big_endian", patched(small, 4, uint32_t{0x03000000})},
      {"tensor_count_huge", patched(small, 8, uint64_t{1} << 60)},
      {"entry_count_huge", patched(small, 16, uint64_t{1} << 60)},
      {"cut_off", Bytes(small.begin(), small.end() - 20)},
      {"four_bytes", Bytes(small.begin(), small.begin() + 4)},
  };
  for (const auto& [name, bytes] : seeds)
    if (!save(std::string(argv[1]) + "/" + name, bytes)) return 1;
  return 0;
}
