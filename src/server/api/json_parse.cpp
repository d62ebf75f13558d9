#include "server/api/json_parse.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/limits.h"

namespace tempo9::server {
namespace {

std::string_view behind(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  return at == text.npos ? text : text.substr(at + mark.size());
}

// Builds the value from the parser's events. Written out because the library's own builder has no limits, and
// searches an object's keys for every member.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(size_t& values) : values_(values) {}
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t&) override { return refuse("binary values are not JSON"); }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    key_ = std::move(name);
    return true;
  }

  bool end_object() override {
    std::vector<std::string_view> keys;
    for (const auto& [name, value] : *open_.back()->get_ptr<Json::object_t*>()) keys.emplace_back(name);
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice != keys.end())
      return refuse(fmt::format("the key \"{}\" occurs twice in one object", abbreviate(*twice)));
    return close();
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …"
    const std::string_view reason = behind(behind(error.what(), "] "), ": ");
    error_position_ = position;
    return refuse(abbreviate(reason));
  }

  Json take() { return std::move(root_); }
  const std::string& error() const { return error_; }
  size_t error_position() const { return error_position_; }

 private:
  bool refuse(std::string reason) {
    error_ = std::move(reason);
    return false;
  }

  bool add(Json value) { return place(std::move(value)) != nullptr; }

  bool open(Json container) {
    if (open_.size() >= limits::kMaxJsonDepth)
      return refuse(fmt::format("nested more than {} levels deep", limits::kMaxJsonDepth));
    Json* placed = place(std::move(container));
    if (placed == nullptr) return false;
    open_.push_back(placed);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  // Pointers in open_ stay good: only the innermost container grows, and it holds no open one.
  Json* place(Json value) {
    if (++values_ > limits::kMaxJsonValues) {
      refuse(fmt::format("more than {} values", limits::kMaxJsonValues));
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    auto& members = *open_.back()->get_ptr<Json::object_t*>();
    make_room(members);
    members.push_back({std::move(key_), std::move(value)});
    return &members.back().second;
  }

  // Where the container grew by itself it would copy the members and all below them, since their keys are
  // constant: time that grows with the depth, and with it a request of a few megabytes that takes seconds.
  static void make_room(Json::object_t& members) {
    if (members.size() < members.capacity()) return;
    Json::object_t larger;
    larger.reserve(std::max<size_t>(2, 2 * members.size()));
    for (auto& [name, value] : members) larger.push_back({name, std::move(value)});
    members = std::move(larger);
  }

  Json root_;
  std::vector<Json*> open_;
  std::string key_, error_;
  size_t& values_;
  size_t error_position_ = std::string::npos;
};

}  // namespace

std::string abbreviate(std::string_view text) {
  constexpr size_t kMost = 200;
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "…";
}

Result<Json> parse_json(std::string_view text) {
  size_t values = 0;
  return parse_json(text, values);
}

Result<Json> parse_json(std::string_view text, size_t& values) {
  if (text.empty()) return fail(ErrorCode::kInvalidArgument, "the body is empty; JSON was expected");
  Builder builder(values);
  if (Json::sax_parse(text, &builder)) return builder.take();
  if (builder.error_position() == std::string::npos)
    return fail(ErrorCode::kInvalidArgument, "the body's JSON is refused: {}", builder.error());
  const std::string_view before = text.substr(0, std::min(builder.error_position(), text.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t column = before.size() - (before.rfind('\n') + 1);
  return fail(ErrorCode::kInvalidArgument, "the body is not valid JSON: line {}, column {}: {}", line, column,
              builder.error());
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tempo9::server
