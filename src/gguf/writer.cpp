#include "gguf/writer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "quant/formats.h"

namespace tempo9::gguf {
namespace {

constexpr uint32_t kDefaultAlignment = 32;

uint64_t padding(uint64_t bytes, uint64_t alignment) {
  return (alignment - bytes % alignment) % alignment;
}

}  // namespace

Writer::Writer(uint32_t alignment) : alignment_(alignment) {
  CHECK(alignment > 0);
  if (alignment != kDefaultAlignment) set("general.alignment", alignment);
}

void Writer::append(Bytes& out, std::string_view text) {
  append(out, static_cast<uint64_t>(text.size()));
  out.insert(out.end(), text.begin(), text.end());
}

void Writer::begin_entry(std::string_view key, ValueType type) {
  ++entry_count_;
  append(metadata_, key);
  append(metadata_, static_cast<uint32_t>(type));
}

uint64_t Writer::add_tensor(std::string_view name, uint32_t type, std::span<const uint64_t> shape) {
  const auto info = quant::find_type(type);
  CHECK(info && info->block_bytes > 0 && !shape.empty());
  const auto block_columns = static_cast<uint64_t>(info->block_columns);
  CHECK(shape[0] % block_columns == 0);
  append(tensors_, name);
  append(tensors_, static_cast<uint32_t>(shape.size()));
  uint64_t elements = 1;
  for (uint64_t size : shape) {
    append(tensors_, size);
    elements *= size;
  }
  append(tensors_, type);
  append(tensors_, next_offset_);
  const uint64_t bytes = elements / block_columns * static_cast<uint64_t>(info->block_bytes);
  next_offset_ += bytes + padding(bytes, alignment_);
  tensor_bytes_.push_back(bytes);
  return bytes;
}

std::vector<uint8_t> Writer::header() const {
  Bytes out = {'G', 'G', 'U', 'F'};
  append(out, uint32_t{3});
  append(out, static_cast<uint64_t>(tensor_bytes_.size()));
  append(out, entry_count_);
  out.insert(out.end(), metadata_.begin(), metadata_.end());
  out.insert(out.end(), tensors_.begin(), tensors_.end());
  out.resize(out.size() + padding(out.size(), alignment_));
  return out;
}

std::vector<uint8_t> Writer::to_bytes(std::span<const std::vector<uint8_t>> data) const {
  CHECK(data.size() == tensor_bytes_.size());
  Bytes out = header();
  for (size_t i = 0; i < data.size(); ++i) {
    CHECK(data[i].size() == tensor_bytes_[i]);
    out.insert(out.end(), data[i].begin(), data[i].end());
    out.resize(out.size() + padding(out.size(), alignment_));
  }
  return out;
}

FileWriter::FileWriter(std::string path, const Writer& layout)
    : path_(std::move(path)),
      file_(path_, std::ios::binary | std::ios::trunc),
      alignment_(layout.alignment()),
      tensor_bytes_(layout.tensor_bytes().begin(), layout.tensor_bytes().end()) {}

Result<FileWriter> FileWriter::create(const std::string& path, const Writer& layout) {
  FileWriter writer(path, layout);
  if (!writer.file_) return fail(ErrorCode::kIo, "cannot create '{}'", path);
  TRY(writer.write(layout.header()));
  return writer;
}

Status FileWriter::write(std::span<const uint8_t> bytes) {
  file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file_) return fail(ErrorCode::kIo, "cannot write to '{}'", path_);
  return {};
}

Status FileWriter::append(std::span<const uint8_t> data) {
  while (!data.empty()) {
    CHECK(tensor_ < tensor_bytes_.size());
    const uint64_t wanted = tensor_bytes_[tensor_] - written_;
    const size_t count = std::min<uint64_t>(wanted, data.size());
    TRY(write(data.first(count)));
    written_ += count;
    data = data.subspan(count);
    if (count < wanted) return {};
    const std::vector<uint8_t> zeros(padding(written_, alignment_));
    TRY(write(zeros));
    ++tensor_;
    written_ = 0;
  }
  return {};
}

Status FileWriter::finish() {
  CHECK(tensor_ == tensor_bytes_.size());
  file_.close();
  if (!file_) return fail(ErrorCode::kIo, "cannot write to '{}'", path_);
  return {};
}

}  // namespace tempo9::gguf
