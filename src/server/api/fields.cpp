#include "server/api/fields.h"

#include <algorithm>
#include <cmath>

#include "base/limits.h"

namespace tempo9::server {
namespace {

const Json& empty_object() {
  static const Json object = Json::object();
  return object;
}

// A whole number within the range of int64_t, whatever way it was written (8, 8.0).
std::optional<int64_t> whole_number(const Json& value) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  const auto number = value.get<double>();
  if (number != std::trunc(number) || number < -kBeyond || number >= kBeyond) return std::nullopt;
  return static_cast<int64_t>(number);
}

ApiError describe(ErrorCode code, const FieldPath& path, std::string_view what) {
  const std::string param = path.text();
  return {code, param.empty() ? std::string(what) : fmt::format("{}: {}", param, what), param};
}

}  // namespace

std::string FieldPath::text() const {
  if (parent_ == nullptr) return "";
  std::string path = parent_->text();
  if (name_.data() == nullptr) return path + fmt::format("[{}]", index_);
  if (!path.empty()) path += '.';
  return path + abbreviate(name_);
}

void Faults::report(ErrorCode code, const FieldPath& path, std::string_view what) {
  if (!first_) first_ = describe(code, path, what);
}

void Faults::report_gap(const FieldPath& path, std::string_view what) {
  if (!gap_) gap_ = describe(ErrorCode::kUnsupported, path, what);
}

std::string_view kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::object:
      return "an object";
    default:
      return "a number";
  }
}

Fields::Fields(const Json& value, const FieldPath& path, Faults& faults)
    : object_(value.is_object() ? &value : &empty_object()), path_(path), faults_(faults) {
  if (!value.is_object())
    faults.report(ErrorCode::kInvalidArgument, path,
                  fmt::format("expected an object, but got {}", kind_of(value)));
}

const Json* Fields::any(std::string_view name) {
  asked_.push_back(name);
  const auto member = object_->find(name);
  return member == object_->end() || member->is_null() ? nullptr : &*member;
}

const Json* Fields::of_kind(std::string_view name, bool (*test)(const Json&), std::string_view expected) {
  const Json* value = any(name);
  if (value == nullptr || test(*value)) return value;
  refuse(ErrorCode::kInvalidArgument, name,
         fmt::format("expected {}, but got {}", expected, kind_of(*value)));
  return nullptr;
}

std::optional<std::string> Fields::string(std::string_view name) {
  const Json* value = of_kind(
      name, [](const Json& json) { return json.is_string(); }, "a string");
  return value == nullptr ? std::nullopt : std::optional(value->get<std::string>());
}

std::optional<bool> Fields::boolean(std::string_view name) {
  const Json* value = of_kind(
      name, [](const Json& json) { return json.is_boolean(); }, "a boolean");
  return value == nullptr ? std::nullopt : std::optional(value->get<bool>());
}

const Json* Fields::array(std::string_view name) {
  return of_kind(
      name, [](const Json& json) { return json.is_array(); }, "an array");
}

const Json* Fields::object(std::string_view name) {
  return of_kind(
      name, [](const Json& json) { return json.is_object(); }, "an object");
}

std::optional<int64_t> Fields::integer(std::string_view name, int64_t least, int64_t most) {
  const Json* value = of_kind(
      name, [](const Json& json) { return json.is_number(); }, "an integer");
  if (value == nullptr) return std::nullopt;
  const std::optional<int64_t> number = whole_number(*value);
  if (number && least <= *number && *number <= most) return number;
  refuse(ErrorCode::kInvalidArgument, name,
         fmt::format("must be an integer from {} to {}, but is {}", least, most, dump_json(*value)));
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view name, double least, double most) {
  const Json* value = of_kind(
      name, [](const Json& json) { return json.is_number(); }, "a number");
  if (value == nullptr) return std::nullopt;
  const auto number = value->get<double>();
  if (least <= number && number <= most) return number;
  refuse(ErrorCode::kInvalidArgument, name,
         fmt::format("must be a number from {} to {}, but is {}", least, most, dump_json(*value)));
  return std::nullopt;
}

const Json* Fields::required(std::string_view name, const Json* found) {
  if (found == nullptr) refuse(ErrorCode::kInvalidArgument, name, "this field is required");
  return found;
}

std::string Fields::required_string(std::string_view name) {
  required(name, any(name));
  return string(name).value_or("");
}

const Json* Fields::required_array(std::string_view name) {
  required(name, any(name));
  return array(name);
}

const Json* Fields::required_object(std::string_view name) {
  required(name, any(name));
  return object(name);
}

void Fields::report_gap(std::string_view name, std::string_view what) {
  faults_.report_gap(path_.member(name), what);
}

void Fields::refuse(ErrorCode code, std::string_view name, std::string_view what) {
  faults_.report(code, path_.member(name), what);
}

std::vector<std::string> Fields::unknown() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : object_->items()) {
    if (std::ranges::find(asked_, name) == asked_.end()) names.push_back(abbreviate(name));
    if (names.size() == limits::kMaxUnknownFields) break;
  }
  return names;
}

}  // namespace tempo9::server
