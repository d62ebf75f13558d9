#include "chat/jinja/iterate.h"

#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {

bool is_iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
      return true;
    case Kind::kObject:
      return value.object().is_iterator() || value.object().size().has_value();
    default:
      return false;
  }
}

Result<size_t> length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return unicode::count(value.view());
    case Kind::kList:
    case Kind::kTuple:
      return value.items().size();
    case Kind::kDict:
      return value.dict().size();
    case Kind::kObject:
      if (const std::optional<size_t> size = value.object().size()) return *size;
      break;
    default:
      break;
  }
  return fail(ErrorCode::kInvalidArgument, "object of type '{}' has no len()", value.type_name());
}

Result<Cursor> Cursor::over(Value iterable) {
  if (!is_iterable(iterable)) {
    return fail(ErrorCode::kInvalidArgument, "'{}' object is not iterable", iterable.type_name());
  }
  return Cursor(std::move(iterable));
}

Result<std::optional<Value>> Cursor::next(Runtime& runtime) {
  TRY(runtime.step());
  switch (iterable_.kind()) {
    case Kind::kString: {
      const Text& text = iterable_.text();
      if (at_ == text.size()) return std::nullopt;
      const size_t begin = at_;
      at_ += unicode::decode(text.view(), at_).length;
      return runtime.string(text.slice(begin, at_));
    }
    case Kind::kList:
    case Kind::kTuple:
      if (at_ == iterable_.items().size()) return std::nullopt;
      return iterable_.items()[at_++];
    case Kind::kDict:
      if (at_ == iterable_.dict().size()) return std::nullopt;
      return iterable_.dict().entries()[at_++].first;
    case Kind::kObject: {
      Object& object = iterable_.object();
      if (object.is_iterator()) return object.next(runtime);
      if (at_ == object.size()) return std::nullopt;
      return object.at(runtime, at_++);
    }
    default:
      return std::nullopt;
  }
}

Result<Collected> collect(Runtime& runtime, const Value& iterable) {
  TRY_ASSIGN(Cursor cursor, Cursor::over(iterable));
  std::vector<Value> items;
  for (;;) {
    TRY_ASSIGN(std::optional<Value> item, cursor.next(runtime));
    if (!item) break;
    TRY(runtime.push(items, *std::move(item)));
  }
  const size_t bytes = items.capacity() * sizeof(Value);
  return Collected{std::move(items), Metered(runtime.meter(), bytes)};
}

Iterator::Iterator(Meter* meter, std::vector<Value> items, std::string_view type_name,
                   std::optional<Error> failure)
    : Object(meter, sizeof(Iterator) + (failure ? failure->message.capacity() : 0)),
      items_(meter, std::move(items)),
      type_name_(type_name),
      failure_(std::move(failure)) {}

Result<std::optional<Value>> Iterator::next(Runtime&) {
  if (at_ < items_.items.size()) return items_.items[at_++];
  if (failure_) return tl::unexpected<Error>(*failure_);
  return std::nullopt;
}

Value make_iterator(Runtime& runtime, std::vector<Value> items, std::string_view type_name,
                    std::optional<Error> failure) {
  return ObjectRef(
      std::make_shared<Iterator>(runtime.meter(), std::move(items), type_name, std::move(failure)));
}

}  // namespace tempo9::chat::jinja
