#include "model/weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <set>

namespace tempo9::model {
namespace {

constexpr size_t kAlignment = 64;

// Parts of a file that the text model does not use: vision and audio towers, and inverse frequencies that old
// converters stored.
constexpr std::array<std::string_view, 6> kIgnoredPrefixes = {
    "v.", "a.", "mm.", "resampler.", "rope_factors_", "audio."};
constexpr std::array<std::string_view, 2> kIgnoredSuffixes = {".attn.rotary_emb.inv_freq", ".attn_rot_embd"};

bool ignorable(std::string_view name) {
  return std::any_of(kIgnoredPrefixes.begin(), kIgnoredPrefixes.end(),
                     [&](auto p) { return name.starts_with(p); }) ||
         std::any_of(kIgnoredSuffixes.begin(), kIgnoredSuffixes.end(),
                     [&](auto s) { return name.ends_with(s); });
}

std::string shape_text(std::span<const uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

bool shape_fits(const gguf::Tensor& tensor, const std::vector<uint64_t>& wanted) {
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    if (tensor.shape[i] != (i < wanted.size() ? wanted[i] : 1)) return false;
  return true;
}

Status check_tensor(const gguf::Tensor& tensor, const TensorSlot& slot) {
  if (!shape_fits(tensor, slot.shape))
    return fail(ErrorCode::kCorrupt, "tensor '{}' has shape {}, expected {}", slot.name,
                shape_text({tensor.shape.data(), static_cast<size_t>(tensor.dimensions)}),
                shape_text(slot.shape));
  if (quant::find_format(tensor.type) == nullptr)
    return fail(ErrorCode::kUnsupported, "tensor '{}' has the format {}, which is not supported", slot.name,
                quant::type_name(tensor.type));
  return {};
}

// Calls f(first, length) for each run of a part of `n` rows or elements.
template <class F>
void for_each_run(const RowPart& part, uint64_t n, F f) {
  const uint64_t repeats = part.repeats == 0 ? n / part.period : part.repeats;
  for (uint64_t i = 0; i < repeats; ++i) f(part.first + i * part.period, part.length);
}

uint64_t length_of(const RowPart& part, uint64_t n) {
  if (part.period == 0) return n;
  return part.length * (part.repeats == 0 ? n / part.period : part.repeats);
}

size_t vector_bytes(const gguf::Tensor& tensor, const RowPart& part) {
  const uint64_t elements = length_of(part, tensor.columns() * tensor.rows());
  return (elements * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
}

void decode(const gguf::Tensor& tensor, HostVector& values) {
  values.resize(static_cast<size_t>(tensor.columns() * tensor.rows()));
  quant::decode_row(quant::find_format(tensor.type)->format, tensor.data.data(), values.size(),
                    values.data());
}

void keep_part(const RowPart& part, std::vector<float>& values) {
  if (part.period == 0) return;
  auto end = values.begin();  // of what is kept; never behind the run that is copied to it
  for_each_run(part, values.size(), [&](uint64_t first, uint64_t length) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(first);
    end = std::copy(begin, begin + static_cast<ptrdiff_t>(length), end);
  });
  values.erase(end, values.end());
}

// The rows of `part`, one after the other, in `out`.
void take_rows(const gguf::Tensor& tensor, const RowPart& part, std::vector<uint8_t>& out) {
  const size_t row_bytes = tensor.data.size() / tensor.rows();
  out.clear();
  for_each_run(part, tensor.rows(), [&](uint64_t first, uint64_t length) {
    const auto begin = tensor.data.begin() + static_cast<ptrdiff_t>(first * row_bytes);
    out.insert(out.end(), begin, begin + static_cast<ptrdiff_t>(length * row_bytes));
  });
}

// Matrices whose rows are looked up; that of the whole model may be its output too.
bool is_embedding(std::string_view name) {
  return name == "token_embd.weight" || name.ends_with("embed_tokens.weight");
}

Result<Matrix> load_matrix(const gguf::Tensor& tensor, const RowPart& part, bool has_output,
                           backend::Device& device) {
  constexpr uint64_t kMost = std::numeric_limits<int>::max();
  if (tensor.columns() > kMost || tensor.shape[1] > kMost || tensor.shape[2] > kMost)
    return fail(ErrorCode::kUnsupported, "tensor '{}' is too large", tensor.name);
  backend::WeightSource source{quant::find_format(tensor.type)->format, static_cast<int>(tensor.shape[1]),
                               static_cast<int>(tensor.columns()), static_cast<int>(tensor.shape[2]),
                               tensor.data};
  source.embedded = is_embedding(tensor.name);
  source.multiplied = !source.embedded || !has_output;
  std::vector<uint8_t> rows;
  if (part.period != 0) {
    take_rows(tensor, part, rows);
    source.bytes = rows;
    source.rows = static_cast<int>(length_of(part, tensor.shape[1]));
  }
  auto weight = device.load_weight(source);
  if (!weight) return fail(weight.error().code, "tensor '{}': {}", tensor.name, weight.error().message);
  if (tensor.file != nullptr) tensor.file->drop(tensor.data);
  return weight;
}

}  // namespace

std::string LayerSlots::name(std::string_view part) const {
  return fmt::format("blk.{}.{}", layer_, part);
}

void LayerSlots::add(std::string_view part_name, std::vector<uint64_t> shape,
                     std::variant<Matrix*, Vector*, HostVector*> target, bool required, RowPart part) {
  slots_.push_back({name(part_name), std::move(shape), target, required, part});
}

Status check_tensors(const gguf::File& file, const std::vector<TensorSlot>& slots) {
  std::set<std::string_view> known;
  for (const TensorSlot& slot : slots) {
    known.insert(slot.name);
    const gguf::Tensor* tensor = file.find_tensor(slot.name);
    if (tensor != nullptr) {
      TRY(check_tensor(*tensor, slot));
    } else if (slot.required) {
      return fail(ErrorCode::kCorrupt, "the file has no tensor '{}'", slot.name);
    }
  }
  for (const gguf::Tensor& tensor : file.tensors())
    if (!known.contains(tensor.name) && !ignorable(tensor.name))
      return fail(ErrorCode::kUnsupported, "the file has a tensor '{}' that this architecture does not use",
                  tensor.name);
  return {};
}

Status WeightStore::load(const gguf::File& file, backend::Device& device,
                         const std::vector<TensorSlot>& slots, const Progress& progress) {
  TRY(check_tensors(file, slots));
  const bool has_output = file.find_tensor("output.weight") != nullptr;
  size_t vectors = 0, total = 0, done = 0;
  for (const TensorSlot& slot : slots) {
    const gguf::Tensor* tensor = file.find_tensor(slot.name);
    if (tensor == nullptr) continue;
    total += tensor->data.size();
    if (std::holds_alternative<Vector*>(slot.target)) vectors += vector_bytes(*tensor, slot.part);
  }
  TRY_ASSIGN(vectors_, device.allocate(vectors));
  const auto stream = device.create_stream();
  std::vector<float> values;
  size_t offset = 0;
  for (const TensorSlot& slot : slots) {
    const gguf::Tensor* tensor = file.find_tensor(slot.name);
    if (tensor == nullptr) continue;
    TRY(file.still_whole());
    if (auto* const* matrix = std::get_if<Matrix*>(&slot.target)) {
      TRY_ASSIGN(**matrix, load_matrix(*tensor, slot.part, has_output, device));
      matrix_bytes_ += (**matrix)->resident_bytes();
    } else if (auto* const* host = std::get_if<HostVector*>(&slot.target)) {
      decode(*tensor, **host);
    } else {
      decode(*tensor, values);
      keep_part(slot.part, values);
      const auto n = static_cast<int>(values.size());
      Vector& view = *std::get<Vector*>(slot.target);
      view = {vectors_.get(), offset, 1, n, n};
      stream->upload(view, std::as_bytes(std::span(values)));
      offset += vector_bytes(*tensor, slot.part);
    }
    done += tensor->data.size();
    if (progress) progress(static_cast<double>(done) / static_cast<double>(total));
  }
  return stream->synchronize();
}

}  // namespace tempo9::model
