#include "chat/jinja/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "chat/jinja/bind.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/number.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"

namespace tempo9::chat::jinja {
namespace {

class Range : public Object {
 public:
  Range(Meter* meter, Integer start, Integer stop, Integer step)
      : Object(meter, sizeof(Range)), start_(start), stop_(stop), step_(step) {
    if (step > 0 && start < stop) size_ = static_cast<size_t>((stop - start - 1) / step + 1);
    if (step < 0 && start > stop) size_ = static_cast<size_t>((start - stop - 1) / -step + 1);
  }
  std::string_view type_name() const override { return "range"; }
  Status append_repr(Runtime&, Text& out) const override {
    out.append("range(" + format_integer(start_) + ", " + format_integer(stop_));
    if (step_ != 1) out.append(", " + format_integer(step_));
    out.append(")");
    return {};
  }
  bool truthy() const override { return size_ != 0; }
  std::optional<size_t> size() const override { return size_; }
  bool is_indexable() const override { return true; }
  Value at(Runtime&, size_t index) const override { return start_ + static_cast<Integer>(index) * step_; }
  bool equals(const Object& other) const override {
    const auto* range = dynamic_cast<const Range*>(&other);
    if (range == nullptr || range->size_ != size_) return false;
    if (size_ == 0) return true;
    return range->start_ == start_ && (size_ == 1 || range->step_ == step_);
  }
  Integer step() const { return step_; }
  Integer item(Integer index) const { return start_ + index * step_; }

 private:
  Integer start_, stop_, step_;
  size_t size_ = 0;
};

Result<Value> make_range(Runtime& runtime, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "range", {"", "", ""}, 1));
  constexpr Integer kFar = Integer{1} << 62;
  std::array<Integer, 3> numbers = {0, 0, 1};
  for (size_t i = 0; i < 3 && bound.has(i); ++i) {
    TRY_ASSIGN(numbers[i], integer_argument(*bound[i]));
    if (numbers[i] > kFar || numbers[i] < -kFar) {
      return fail(ErrorCode::kUnsupported, "the bounds of a range do not fit 62 bits");
    }
  }
  if (!bound.has(1)) std::swap(numbers[0], numbers[1]);
  if (numbers[2] == 0) return fail(ErrorCode::kInvalidArgument, "range() arg 3 must not be zero");
  auto range = std::make_shared<Range>(runtime.meter(), numbers[0], numbers[1], numbers[2]);
  if (range->size() > limits::kMaxTemplateRange) {
    return fail(ErrorCode::kInvalidArgument, "Range too big. The sandbox blocks ranges larger than {}",
                limits::kMaxTemplateRange);
  }
  return ObjectRef(std::move(range));
}

// What dict(…) and namespace(…) take: a dict or a list of pairs, and named values.
Result<std::vector<Dict::Entry>> dict_entries(Runtime& runtime, const Arguments& arguments,
                                              std::string_view function) {
  std::vector<Dict::Entry> entries;
  if (arguments.positional.size() > 1) {
    return fail(ErrorCode::kInvalidArgument, "{} expected at most 1 argument, got {}", function,
                arguments.positional.size());
  }
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    if (source.is(Kind::kDict)) {
      TRY(runtime.reserve((source.dict().size() + arguments.named.size()) * sizeof(Dict::Entry)));
      entries.reserve(source.dict().size() + arguments.named.size());
      std::ranges::copy(source.dict().entries(), std::back_inserter(entries));
    } else {
      TRY_ASSIGN(const Collected pairs, collect(runtime, source));
      for (const Value& pair : pairs.items) {
        TRY_ASSIGN(Collected key_and_value, collect(runtime, pair));
        auto& items = key_and_value.items;
        if (items.size() != 2) {
          return fail(ErrorCode::kInvalidArgument,
                      "dictionary update sequence element has length {}; 2 is required", items.size());
        }
        TRY(runtime.push(entries, {std::move(items[0]), std::move(items[1])}));
      }
    }
  }
  for (const auto& [name, value] : arguments.named) TRY(runtime.push(entries, {runtime.string(name), value}));
  return entries;
}

Result<Value> make_dict(Runtime& runtime, const Arguments& arguments) {
  TRY_ASSIGN(std::vector<Dict::Entry> entries, dict_entries(runtime, arguments, "dict"));
  return runtime.dict(std::move(entries));
}

Result<Value> make_namespace(Runtime& runtime, const Arguments& arguments) {
  TRY_ASSIGN(const std::vector<Dict::Entry> entries, dict_entries(runtime, arguments, "namespace"));
  auto object = runtime.make_clearable<Namespace>();
  for (const auto& [name, value] : entries) {
    TRY(runtime.step());
    if (name.is_string()) {
      TRY(object->assign(runtime, name.text(), value));
    }
  }
  return ObjectRef(std::move(object));
}

Result<Value> raise_exception(Runtime& runtime, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "raise_exception", {"message"}, 1));
  constexpr size_t kMaxMessage = 500;  // it may quote what a client sent
  TRY_ASSIGN(const Text message, to_str(runtime, *bound[0]));
  return fail(ErrorCode::kInvalidArgument, "{}", shorten(message.view(), kMaxMessage));
}

Result<Value> strftime_now(Runtime& runtime, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "strftime_now", {"format"}, 1));
  TRY_ASSIGN(const Text* format, text_argument(*bound[0]));
  constexpr size_t kMaxResult = 1024;
  const std::time_t now = std::chrono::system_clock::to_time_t(runtime.now());
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, kMaxResult> buffer;
  const size_t size = std::strftime(buffer.data(), buffer.size(), format->bytes().c_str(), &local);
  if (size == 0 && !format->empty()) {
    return fail(ErrorCode::kInvalidArgument, "the result of strftime_now() is empty or longer than {} bytes",
                kMaxResult);
  }
  return runtime.string(format->derive(std::string(buffer.data(), size)));
}

class Function : public Object {
 public:
  using Body = Result<Value> (*)(Runtime&, const Arguments&);
  Function(Meter* meter, std::string_view name, Body body)
      : Object(meter, sizeof(Function)), name_(name), body_(body) {}
  std::string_view type_name() const override { return "function"; }
  Status append_repr(Runtime&, Text& out) const override {
    out.append(fmt::format("<function {}>", name_));
    return {};
  }
  bool is_callable() const override { return true; }
  Result<Value> call(Runtime& runtime, const Arguments& arguments) override {
    return body_(runtime, arguments);
  }

 private:
  std::string_view name_;
  Body body_;
};

}  // namespace

Value find_global(Runtime& runtime, std::string_view name) {
  static constexpr std::pair<std::string_view, Function::Body> kGlobals[] = {
      {"range", make_range},          {"dict", make_dict},
      {"namespace", make_namespace},  {"raise_exception", raise_exception},
      {"strftime_now", strftime_now},
  };
  for (const auto& [global, body] : kGlobals) {
    if (global == name) return ObjectRef(std::make_shared<Function>(runtime.meter(), global, body));
  }
  return {};
}

std::string_view DictView::type_name() const {
  return part_ == Part::kItems ? "dict_items" : part_ == Part::kKeys ? "dict_keys" : "dict_values";
}

Status DictView::append_repr(Runtime& runtime, Text& out) const {
  TRY_ASSIGN(const Value items, [&]() -> Result<Value> {
    std::vector<Value> values;
    for (size_t i = 0; i < dict_->size(); ++i) TRY(runtime.push(values, at(runtime, i)));
    return runtime.list(std::move(values));
  }());
  out.append(type_name());
  out.append("(");
  TRY(jinja::append_repr(runtime, out, items));
  out.append(")");
  return {};
}

Value DictView::at(Runtime& runtime, size_t index) const {
  const auto& [key, value] = dict_->entries()[index];
  if (part_ == Part::kKeys) return key;
  if (part_ == Part::kValues) return value;
  return TupleRef(std::make_shared<const Tuple>(runtime.meter(), std::vector<Value>{key, value}));
}

Value slice_range(Runtime& runtime, const Value& range, Integer begin, Integer step, size_t count) {
  const auto& whole = static_cast<const Range&>(range.object());
  const Integer by = whole.step() * step, start = whole.item(begin);
  return ObjectRef(
      std::make_shared<Range>(runtime.meter(), start, start + by * static_cast<Integer>(count), by));
}

Status Namespace::append_repr(Runtime& runtime, Text& out) const {
  out.append(fmt::format("<Namespace of {} attributes>", attributes_.size()));
  return runtime.reserve(out.size());
}

Result<std::optional<Value>> Namespace::attribute(Runtime&, std::string_view name) {
  for (const auto& [key, value] : attributes_) {
    if (key.view() == name) return value;
  }
  return std::nullopt;
}

Status Namespace::assign(Runtime& runtime, const Text& name, Value value) {
  if (name.view().starts_with('_')) {
    return fail(ErrorCode::kInvalidArgument,
                "chat templates cannot store attributes that begin with an underscore on a namespace: {}",
                quote(name.view()));
  }
  runtime.charge(attributes_.size() / 8);
  for (auto& [key, old] : attributes_) {
    if (key.view() == name.view()) {
      old = std::move(value);
      return {};
    }
  }
  TRY(runtime.push(attributes_, {runtime.string(name), std::move(value)}));
  recount(sizeof(Namespace) + attributes_.capacity() * sizeof(attributes_[0]));
  return {};
}

}  // namespace tempo9::chat::jinja
