#include "gguf/file.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/limits.h"
#include "gguf/parser.h"
#include "gguf/printable.h"

namespace tempo9::gguf {
namespace {

constexpr std::string_view kSplitCount = "split.count";
constexpr std::string_view kSplitNumber = "split.no";  // counted from 0
constexpr std::string_view kSplitTensors = "split.tensors.count";

// How the name of part `part` (from 1) ends; what stands before it is the same for the whole series.
std::string part_suffix(uint64_t part, uint64_t count) {
  return fmt::format("-{:05}-of-{:05}.gguf", part, count);
}

// 1 for a file that is not split, which some writers mark with 0.
Result<uint64_t> split_count(const Metadata& metadata) {
  TRY_ASSIGN(const uint64_t count, metadata.unsigned_integer_or(kSplitCount, 1));
  if (count > limits::kMaxSplitFiles)
    return fail(ErrorCode::kUnsupported, "the key '{}' is {}; series of at most {} files are read",
                kSplitCount, count, limits::kMaxSplitFiles);
  return std::max<uint64_t>(count, 1);
}

// Whether a file says of itself that it is part `part` of `count`.
Status check_part(const Metadata& metadata, uint64_t part, uint64_t count) {
  TRY_ASSIGN(const uint64_t given_count, split_count(metadata));
  TRY_ASSIGN(const uint64_t number, metadata.unsigned_integer(kSplitNumber));
  if (number == part - 1 && given_count == count) return {};
  return fail(ErrorCode::kCorrupt, "this is file {} of a series of {}, but file {} of {} is needed here",
              number + 1, given_count, part, count);
}

template <class T>
Result<T> with_path(const std::string& path, Result<T> result) {
  if (result) return result;
  return fail(result.error().code, "'{}': {}", path, result.error().message);
}

}  // namespace

Result<std::shared_ptr<const File>> File::parse(std::span<const uint8_t> bytes) {
  auto file = std::make_shared<File>();
  TRY_ASSIGN(Part part, Parser(bytes, nullptr).run());
  TRY_ASSIGN(const uint64_t count, split_count(part.metadata));
  if (count > 1)
    return fail(ErrorCode::kInvalidArgument,
                "this is one file of a series of {}, which must be opened by path", count);
  file->add(std::move(part), bytes.size());
  TRY(file->index_names());
  return file;
}

Result<std::shared_ptr<const File>> File::open(const std::string& path) {
  auto file = std::make_shared<File>();
  TRY_ASSIGN(Part first, file->map(path));
  TRY_ASSIGN(const uint64_t count, with_path(path, split_count(first.metadata)));
  if (count > 1) TRY(with_path(path, check_part(first.metadata, 1, count)));
  file->add(std::move(first), file->files_[0]->bytes().size());
  if (count > 1) TRY(file->add_rest_of_series(path, count));
  TRY(with_path(path, file->index_names()));
  return file;
}

Result<Part> File::map(const std::string& path) {
  TRY_ASSIGN(MappedFile mapped, MappedFile::open(path));
  files_.push_back(std::make_unique<MappedFile>(std::move(mapped)));
  return with_path(path, Parser(files_.back()->bytes(), files_.back().get()).run());
}

// Version, alignment and metadata are those of the first part; the others repeat only what they need.
void File::add(Part part, uint64_t bytes) {
  if (total_bytes_ == 0) {
    version_ = part.version;
    alignment_ = part.alignment;
    metadata_ = std::move(part.metadata);
  }
  total_bytes_ += bytes;
  if (tensors_.empty()) {
    tensors_ = std::move(part.tensors);
  } else {
    tensors_.insert(tensors_.end(), part.tensors.begin(), part.tensors.end());
  }
}

Status File::add_rest_of_series(const std::string& path, uint64_t count) {
  const std::string first_suffix = part_suffix(1, count);
  if (!path.ends_with(first_suffix))
    return fail(ErrorCode::kInvalidArgument,
                "'{}' is the first file of a series of {}; to find the others its name must end in '{}'",
                path, count, first_suffix);
  const std::string stem = path.substr(0, path.size() - first_suffix.size());
  for (uint64_t number = 2; number <= count; ++number) {
    const std::string name = stem + part_suffix(number, count);
    auto part = map(name);
    if (!part)
      return fail(part.error().code, "file {} of {} of the series: {}", number, count, part.error().message);
    TRY(with_path(name, check_part(part->metadata, number, count)));
    add(*std::move(part), files_.back()->bytes().size());
  }
  TRY_ASSIGN(const uint64_t announced,
             with_path(path, metadata_.unsigned_integer_or(kSplitTensors, tensors_.size())));
  if (announced != tensors_.size())
    return fail(ErrorCode::kCorrupt, "'{}': the series should have {} tensors and has {}", path, announced,
                tensors_.size());
  return {};
}

Status File::index_names() {
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  const auto name = [&](uint32_t i) { return tensors_[i].name; };
  std::ranges::sort(by_name_, {}, name);
  const auto twice = std::ranges::adjacent_find(by_name_, {}, name);
  if (twice != by_name_.end())
    return fail(ErrorCode::kCorrupt, "the tensor '{}' appears twice", printable(name(*twice)));
  return {};
}

const Tensor* File::find_tensor(std::string_view name) const {
  const auto name_of = [&](uint32_t i) { return tensors_[i].name; };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return found != by_name_.end() && name_of(*found) == name ? &tensors_[*found] : nullptr;
}

Status File::still_whole() const {
  for (const auto& file : files_) TRY(file->still_whole());
  return {};
}

}  // namespace tempo9::gguf
