#include "gguf/parser.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/limits.h"
#include "gguf/printable.h"
#include "gguf/scalar.h"
#include "quant/formats.h"

namespace tempo9::gguf {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
// Every entry has a key length, a key, a type and a value; every tensor a name length, a name, the number of
// its dimensions, one dimension at least, a type and an offset.
constexpr uint64_t kSmallestEntryBytes = 8 + 1 + 4 + 1;
constexpr uint64_t kSmallestTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

// Vectors of the widest element we read in place are eight bytes.
constexpr uint64_t kSmallestAlignment = 8;

}  // namespace

Result<Part> Parser::run() {
  TRY(read_header());
  TRY(read_metadata());
  TRY(read_alignment());
  TRY(read_tensors());
  TRY(place_tensors());
  TRY(check_overlap());
  return std::move(part_);
}

std::string Parser::describe_place(const Place& place) {
  if (!place.name.empty()) return fmt::format("{} '{}'", place.what, printable(place.name));
  return place.number == kUnnumbered ? place.what : fmt::format("{} {}", place.what, place.number);
}

tl::unexpected<Error> Parser::cut_off(const Place& place) const {
  return fail(ErrorCode::kCorrupt, "the file is cut off: it has {} bytes and ends inside {}", bytes_.size(),
              describe_place(place));
}

Status Parser::read_header() {
  uint32_t magic = 0, version = 0;
  if (!reader_.read(magic)) return fail(ErrorCode::kCorrupt, "the file has only {} bytes", bytes_.size());
  if (magic != kMagic)
    return fail(ErrorCode::kCorrupt, "this is not a GGUF file: it does not begin with 'GGUF'");
  if (!reader_.read(version)) return cut_off({"the header"});
  if (version == 1)
    return fail(ErrorCode::kUnsupported, "GGUF version 1 is too old; versions 2 and 3 are read");
  if (version != 0 && (version & 0xffffu) == 0)
    return fail(ErrorCode::kUnsupported, "this is a big-endian GGUF file; only little-endian ones are read");
  if (version != 2 && version != 3)
    return fail(ErrorCode::kUnsupported, "GGUF version {} is unknown; versions 2 and 3 are read", version);
  part_.version = version;
  if (!reader_.read(tensor_count_) || !reader_.read(entry_count_)) return cut_off({"the header"});
  TRY(check_count("metadata entries", entry_count_, kSmallestEntryBytes, limits::kMaxMetadataEntries));
  return check_count("tensors", tensor_count_, kSmallestTensorBytes, limits::kMaxTensors);
}

Status Parser::check_count(const char* what, uint64_t count, uint64_t smallest_bytes, uint64_t limit) const {
  const uint64_t possible = std::min(limit, reader_.remaining() / smallest_bytes);
  if (count > possible)
    return fail(ErrorCode::kCorrupt, "the header announces {} {}; a file of {} bytes can have at most {}",
                count, what, bytes_.size(), possible);
  return {};
}

Result<std::string_view> Parser::read_name(uint64_t limit, const Place& place) {
  std::string_view name;
  if (!reader_.read(name)) return cut_off(place);
  if (name.empty()) return fail(ErrorCode::kCorrupt, "{} has an empty name", describe_place(place));
  if (name.size() > limit)
    return fail(ErrorCode::kCorrupt, "the name of {} has {} bytes; at most {} are allowed",
                describe_place(place), name.size(), limit);
  if (!is_utf8(name))
    return fail(ErrorCode::kCorrupt, "the name of {}, '{}', is not UTF-8", describe_place(place),
                printable(name));
  return name;
}

Status Parser::read_metadata() {
  auto& entries = part_.metadata.entries_;
  entries.reserve(entry_count_);
  for (uint64_t i = 0; i < entry_count_; ++i) {
    TRY_ASSIGN(Entry entry, read_entry(i));
    entries.push_back(entry);
  }
  std::ranges::sort(entries, {}, &Entry::key);
  const auto twice = std::ranges::adjacent_find(entries, {}, &Entry::key);
  if (twice != entries.end())
    return fail(ErrorCode::kCorrupt, "the key '{}' appears twice", printable(twice->key));
  return {};
}

Result<Entry> Parser::read_entry(uint64_t number) {
  Entry entry = {};
  TRY_ASSIGN(entry.key, read_name(limits::kMaxMetadataKeyBytes, {"metadata entry", number}));
  const Place place = {"the key", number, entry.key};
  const auto read_type = [&](ValueType& type) -> Status {
    uint32_t id = 0;
    if (!reader_.read(id)) return cut_off(place);
    type = static_cast<ValueType>(id);
    if (type > ValueType::kFloat64)
      return fail(ErrorCode::kCorrupt, "{} has a value of the unknown type {}", describe_place(place), id);
    return {};
  };
  TRY(read_type(entry.type));
  entry.element_type = entry.type;
  entry.count = 1;
  if (entry.type == ValueType::kArray) {
    TRY(read_type(entry.element_type));
    if (entry.element_type == ValueType::kArray)
      return fail(ErrorCode::kUnsupported, "{} is an array of arrays, which is not supported",
                  describe_place(place));
    if (!reader_.read(entry.count)) return cut_off(place);
  }
  const uint64_t begin = reader_.position();
  TRY(skip_elements(entry, place));
  entry.raw = reader_.since(begin);
  return entry;
}

Status Parser::skip_elements(const Entry& entry, const Place& place) {
  if (entry.element_type == ValueType::kString) {
    std::string_view text;
    for (uint64_t i = 0; i < entry.count; ++i)
      if (!reader_.read(text)) return cut_off(place);
    return {};
  }
  const uint64_t begin = reader_.position();
  const uint64_t size = scalar_bytes(entry.element_type);
  if (entry.count > reader_.remaining() / size) return cut_off(place);
  reader_.skip(entry.count * size);
  if (entry.element_type != ValueType::kBool) return {};
  for (uint8_t byte : reader_.since(begin))
    if (byte > 1)
      return fail(ErrorCode::kCorrupt, "{} has a boolean of value {}", describe_place(place), byte);
  return {};
}

Status Parser::read_alignment() {
  constexpr std::string_view kKey = "general.alignment";
  const Entry* entry = part_.metadata.find(kKey);
  if (entry == nullptr) return {};
  if (entry->type != ValueType::kUint32)
    return fail(ErrorCode::kCorrupt, "the key '{}' is not an unsigned 32-bit integer", kKey);
  part_.alignment = load<uint32_t>(entry->raw.data());
  if (!std::has_single_bit(part_.alignment) || part_.alignment < kSmallestAlignment ||
      part_.alignment > limits::kMaxAlignment)
    return fail(ErrorCode::kCorrupt, "the alignment ('{}') is {}; it must be a power of two from {} to {}",
                kKey, part_.alignment, kSmallestAlignment, limits::kMaxAlignment);
  return {};
}

Status Parser::read_tensors() {
  part_.tensors.reserve(tensor_count_);
  extents_.reserve(tensor_count_);
  for (uint64_t i = 0; i < tensor_count_; ++i) TRY(read_tensor(i));
  return {};
}

Result<uint64_t> Parser::tensor_bytes(const Tensor& tensor, const Place& place) {
  const auto refuse = [&]<class... Args>(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
    return fail(code, "{} {}", describe_place(place), fmt::format(format, std::forward<Args>(args)...));
  };
  const auto type = quant::find_type(tensor.type);
  if (!type) return refuse(ErrorCode::kUnsupported, "has type {}, which GGUF does not define", tensor.type);
  if (type->block_bytes == 0)
    return refuse(ErrorCode::kUnsupported, "has type {}, which GGUF has withdrawn", type->name);
  uint64_t elements = 1;
  for (uint64_t size : tensor.shape) {
    if (size == 0) return refuse(ErrorCode::kCorrupt, "has a dimension of size 0");
    if (__builtin_mul_overflow(elements, size, &elements))
      return refuse(ErrorCode::kCorrupt, "has more elements than can be counted: {}",
                    fmt::join(tensor.shape, " x "));
  }
  const auto block_columns = static_cast<uint64_t>(type->block_columns);
  if (tensor.columns() % block_columns != 0)
    return refuse(ErrorCode::kCorrupt, "has rows of {} elements, which are not whole {} blocks of {}",
                  tensor.columns(), type->name, block_columns);
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements / block_columns, static_cast<uint64_t>(type->block_bytes), &bytes))
    return refuse(ErrorCode::kCorrupt, "has more bytes than can be counted: {} elements of type {}", elements,
                  type->name);
  return bytes;
}

Status Parser::read_tensor(uint64_t number) {
  Tensor tensor = {};
  TRY_ASSIGN(tensor.name, read_name(limits::kMaxTensorNameBytes, {"tensor", number}));
  const Place place = {"tensor", number, tensor.name};
  uint32_t dimensions = 0;
  if (!reader_.read(dimensions)) return cut_off(place);
  if (dimensions < 1 || dimensions > limits::kMaxTensorDimensions)
    return fail(ErrorCode::kCorrupt, "{} has {} dimensions; 1 to {} are allowed", describe_place(place),
                dimensions, limits::kMaxTensorDimensions);
  tensor.dimensions = static_cast<int>(dimensions);
  tensor.shape.fill(1);
  for (uint32_t d = 0; d < dimensions; ++d)
    if (!reader_.read(tensor.shape[d])) return cut_off(place);
  uint64_t offset = 0;
  if (!reader_.read(tensor.type) || !reader_.read(offset)) return cut_off(place);
  TRY_ASSIGN(const uint64_t bytes, tensor_bytes(tensor, place));
  if (offset % part_.alignment != 0)
    return fail(ErrorCode::kCorrupt, "{} begins at byte {} of the tensor data, which is not a multiple of {}",
                describe_place(place), offset, part_.alignment);
  part_.tensors.push_back(tensor);
  extents_.push_back({offset, bytes});
  return {};
}

// The tensor data begins at the next multiple of the alignment after the last tensor's description.
Status Parser::place_tensors() {
  const uint64_t header = reader_.position();
  const uint64_t begin = std::min((header + part_.alignment - 1) / part_.alignment * part_.alignment,
                                  static_cast<uint64_t>(bytes_.size()));
  const std::span<const uint8_t> data = bytes_.subspan(begin);
  for (size_t i = 0; i < part_.tensors.size(); ++i) {
    Tensor& tensor = part_.tensors[i];
    const auto [offset, bytes] = extents_[i];
    if (offset > data.size() || bytes > data.size() - offset)
      return fail(
          ErrorCode::kCorrupt,
          "tensor '{}' needs {} bytes from byte {} of the tensor data, which has {} bytes; is the file "
          "cut off?",
          printable(tensor.name), bytes, offset, data.size());
    tensor.data = data.subspan(offset, bytes);
    tensor.file = file_;
  }
  return {};
}

Status Parser::check_overlap() const {
  std::vector<uint32_t> order(extents_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t i) { return extents_[i].offset; });
  for (size_t i = 1; i < order.size(); ++i) {
    const Extent& before = extents_[order[i - 1]];
    if (before.offset + before.bytes > extents_[order[i]].offset)
      return fail(ErrorCode::kCorrupt, "the tensors '{}' and '{}' overlap",
                  printable(part_.tensors[order[i - 1]].name), printable(part_.tensors[order[i]].name));
  }
  return {};
}

}  // namespace tempo9::gguf
