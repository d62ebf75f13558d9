// Any bytes as a GGUF file: parsed, and if that succeeds, every value, tensor and the overview used.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "gguf/describe.h"
#include "gguf/file.h"
#include "quant/formats.h"

namespace {

using namespace tempo9;

// Asks for the value as every kind; returns how many were granted.
size_t use_entry(const gguf::Metadata& metadata, std::string_view key) {
  size_t accepted = 0;
  const auto count = [&](const auto& result) { accepted += result.has_value() ? 1 : 0; };
  count(metadata.string(key));
  count(metadata.unsigned_integer(key));
  count(metadata.real(key));
  count(metadata.boolean(key));
  count(metadata.strings(key));
  count(metadata.integers(key));
  count(metadata.reals(key));
  count(metadata.booleans(key));
  count(metadata.unsigned_integer_or(key, 1));
  count(metadata.real_or(key, 1));
  count(metadata.boolean_or(key, true));
  count(metadata.string_or(key, ""));
  return accepted;
}

void use_tensor(const gguf::Tensor& tensor) {
  const quant::FormatInfo* format = quant::find_format(tensor.type);
  if (format == nullptr) return;
  CHECK(tensor.data.size() == format->row_bytes(tensor.columns()) * tensor.rows());
  std::vector<float> block(static_cast<size_t>(format->block_columns));
  const auto bytes = static_cast<size_t>(format->block_bytes);
  format->decode(tensor.data.data(), block.data());
  format->decode(tensor.data.data() + tensor.data.size() - bytes, block.data());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto opened = gguf::File::parse({data, size});
  if (!opened) {
    CHECK(!opened.error().message.empty());
    return 0;
  }
  const gguf::File& file = **opened;
  for (const gguf::Entry& entry : file.metadata().entries()) {
    CHECK(file.metadata().find(entry.key) == &entry);
    CHECK(use_entry(file.metadata(), entry.key) <= 4);  // an integer is four of the twelve kinds
  }
  if (!file.metadata().has("x")) CHECK(use_entry(file.metadata(), "x") == 4);  // the four with a fallback
  for (const gguf::Tensor& tensor : file.tensors()) {
    CHECK(file.find_tensor(tensor.name) == &tensor);
    use_tensor(tensor);
  }
  CHECK(file.still_whole().has_value());
  CHECK(!gguf::describe(file).empty());
  return 0;
}
