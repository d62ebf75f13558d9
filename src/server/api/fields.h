// Reading a JSON object whose members may be anything. The first fault is kept, with the path of the field
// that has it; after a fault reading goes on and gives empty values, so that callers need no error path of
// their own.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/api_error.h"
#include "server/api/json_parse.h"

namespace tempo9::server {

// A place in the body: `messages[2].content[0].text`. A chain of views: a path must not outlive its parents.
class FieldPath {
 public:
  FieldPath() = default;  // the body itself
  FieldPath member(std::string_view name) const { return FieldPath(this, name, 0); }
  FieldPath element(size_t index) const { return FieldPath(this, {}, index); }
  std::string text() const;

 private:
  FieldPath(const FieldPath* parent, std::string_view name, size_t index)
      : parent_(parent), name_(name), index_(index) {}
  const FieldPath* parent_ = nullptr;
  std::string_view name_;
  size_t index_ = 0;
};

// What is wrong with a request, and apart from it what is right but cannot be answered yet (a gap). Of each
// the first is kept.
class Faults {
 public:
  void report(ErrorCode code, const FieldPath& path, std::string_view what);
  void report_gap(const FieldPath& path, std::string_view what);
  const std::optional<ApiError>& first() const { return first_; }
  const std::optional<ApiError>& gap() const { return gap_; }
  // How many values of JSON have been read from texts within the body, which share one bound.
  size_t& values_in_texts() { return values_in_texts_; }

 private:
  std::optional<ApiError> first_, gap_;
  size_t values_in_texts_ = 0;
};

// "a string", "an object", …
std::string_view kind_of(const Json& value);

class Fields {
 public:
  // Anything but an object is a fault, and reads as an empty one. `value` and `faults` must outlive this.
  Fields(const Json& value, const FieldPath& path, Faults& faults);

  // A member that is absent or null gives nothing. One of the wrong kind or out of range is a fault.
  const Json* any(std::string_view name);
  std::optional<std::string> string(std::string_view name);
  std::optional<bool> boolean(std::string_view name);
  std::optional<int64_t> integer(std::string_view name, int64_t least, int64_t most);
  std::optional<double> number(std::string_view name, double least, double most);
  const Json* array(std::string_view name);
  const Json* object(std::string_view name);

  std::string required_string(std::string_view name);
  const Json* required_array(std::string_view name);
  const Json* required_object(std::string_view name);

  void refuse(ErrorCode code, std::string_view name, std::string_view what);
  void report_gap(std::string_view name, std::string_view what);
  // Members nobody has asked for.
  std::vector<std::string> unknown() const;

  const FieldPath& path() const { return path_; }
  Faults& faults() const { return faults_; }

 private:
  const Json* of_kind(std::string_view name, bool (*test)(const Json&), std::string_view expected);
  const Json* required(std::string_view name, const Json* found);

  const Json* object_;
  FieldPath path_;
  Faults& faults_;
  std::vector<std::string_view> asked_;
};

}  // namespace tempo9::server
