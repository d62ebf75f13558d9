#include "gguf/metadata.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "gguf/printable.h"
#include "gguf/reader.h"
#include "gguf/scalar.h"

namespace tempo9::gguf {
namespace {

tl::unexpected<Error> wrong_kind(const Entry& entry, std::string_view needed) {
  const bool is_array = entry.type == ValueType::kArray;
  return fail(ErrorCode::kCorrupt, "the key '{}' is of type {}{}; it must be {}", printable(entry.key),
              is_array ? "array of " : "", type_name(entry.element_type), needed);
}

template <class Wanted>
constexpr std::string_view kind_name() {
  if constexpr (std::is_same_v<Wanted, bool>) return "a boolean";
  if constexpr (std::is_same_v<Wanted, double>) return "a number";
  return "an integer";
}

// The scalar at `bytes`, which is (an element of) the entry's value, if it is of the wanted kind and fits.
template <class Wanted>
Result<Wanted> convert(const Entry& entry, const uint8_t* bytes) {
  return visit_scalar(entry.element_type, bytes, [&](auto value) -> Result<Wanted> {
    using Given = decltype(value);
    constexpr bool kBothBool = std::is_same_v<Given, bool> && std::is_same_v<Wanted, bool>;
    constexpr bool kEitherBool = std::is_same_v<Given, bool> || std::is_same_v<Wanted, bool>;
    if constexpr (kBothBool || (!kEitherBool && std::is_floating_point_v<Wanted>)) {
      return static_cast<Wanted>(value);
    } else if constexpr (!kEitherBool && std::is_integral_v<Given>) {
      if (std::in_range<Wanted>(value)) return static_cast<Wanted>(value);
      return fail(ErrorCode::kCorrupt, "the key '{}' holds {}, which is out of range", printable(entry.key),
                  value);
    } else {
      return wrong_kind(entry, kind_name<Wanted>());
    }
  });
}

Result<const Entry*> require(const Metadata& metadata, std::string_view key) {
  const Entry* entry = metadata.find(key);
  if (entry == nullptr) return fail(ErrorCode::kNotFound, "the file has no key '{}'", key);
  return entry;
}

template <class Wanted>
Result<Wanted> scalar(const Metadata& metadata, std::string_view key) {
  TRY_ASSIGN(const Entry* entry, require(metadata, key));
  if (entry->type == ValueType::kArray || entry->type == ValueType::kString)
    return wrong_kind(*entry, kind_name<Wanted>());
  return convert<Wanted>(*entry, entry->raw.data());
}

template <class Wanted>
Result<std::vector<Wanted>> array(const Metadata& metadata, std::string_view key) {
  TRY_ASSIGN(const Entry* entry, require(metadata, key));
  if (entry->type != ValueType::kArray || entry->element_type == ValueType::kString)
    return wrong_kind(*entry, fmt::format("an array, each element {}", kind_name<Wanted>()));
  const uint64_t size = scalar_bytes(entry->element_type);
  std::vector<Wanted> values;
  values.reserve(entry->count);
  for (uint64_t i = 0; i < entry->count; ++i) {
    TRY_ASSIGN(const Wanted value, convert<Wanted>(*entry, entry->raw.data() + i * size));
    values.push_back(value);
  }
  return values;
}

std::vector<std::string_view> as_strings(const Entry& entry) {
  std::vector<std::string_view> values(entry.count);
  Reader reader(entry.raw);
  for (std::string_view& value : values) CHECK(reader.read(value));  // the parser has walked them
  return values;
}

}  // namespace

const Entry* Metadata::find(std::string_view key) const {
  const auto found = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
  return found != entries_.end() && found->key == key ? &*found : nullptr;
}

Result<std::string_view> Metadata::string(std::string_view key) const {
  TRY_ASSIGN(const Entry* entry, require(*this, key));
  if (entry->type != ValueType::kString) return wrong_kind(*entry, "a string");
  return as_strings(*entry).front();
}

Result<std::vector<std::string_view>> Metadata::strings(std::string_view key) const {
  TRY_ASSIGN(const Entry* entry, require(*this, key));
  if (entry->type != ValueType::kArray || entry->element_type != ValueType::kString)
    return wrong_kind(*entry, "an array of strings");
  return as_strings(*entry);
}

Result<uint64_t> Metadata::unsigned_integer(std::string_view key) const {
  return scalar<uint64_t>(*this, key);
}
Result<double> Metadata::real(std::string_view key) const {
  return scalar<double>(*this, key);
}
Result<bool> Metadata::boolean(std::string_view key) const {
  return scalar<bool>(*this, key);
}
Result<std::vector<int64_t>> Metadata::integers(std::string_view key) const {
  return array<int64_t>(*this, key);
}
Result<std::vector<double>> Metadata::reals(std::string_view key) const {
  return array<double>(*this, key);
}
Result<std::vector<bool>> Metadata::booleans(std::string_view key) const {
  return array<bool>(*this, key);
}

Result<uint64_t> Metadata::unsigned_integer_or(std::string_view key, uint64_t fallback) const {
  return has(key) ? unsigned_integer(key) : fallback;
}
Result<double> Metadata::real_or(std::string_view key, double fallback) const {
  return has(key) ? real(key) : fallback;
}
Result<bool> Metadata::boolean_or(std::string_view key, bool fallback) const {
  return has(key) ? boolean(key) : fallback;
}
Result<std::string_view> Metadata::string_or(std::string_view key, std::string_view fallback) const {
  return has(key) ? string(key) : fallback;
}

}  // namespace tempo9::gguf
