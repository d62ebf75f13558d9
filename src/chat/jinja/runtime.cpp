#include "chat/jinja/runtime.h"

namespace tempo9::chat::jinja {

Runtime::~Runtime() {
  for (const auto& object : clearables_) object->clear();
}

Status Runtime::step() {
  if (++steps_ > max_steps_) {
    return fail(ErrorCode::kInvalidArgument, "the template needs more than {} steps", max_steps_);
  }
  return reserve(0);
}

Status Runtime::reserve(size_t bytes) {
  if (!meter_.allow(bytes)) {
    return fail(ErrorCode::kInvalidArgument, "the template needs more than {} bytes of memory",
                meter_.limit());
  }
  return {};
}

Result<Metered> Runtime::hold(size_t bytes) {
  TRY(reserve(bytes));
  return Metered(&meter_, bytes);
}

Value Runtime::string(Text text) {
  charge_bytes(text.size());
  return StringRef(std::make_shared<const String>(&meter_, std::move(text)));
}

Result<Value> Runtime::check_size(Value value) const {
  if (value.depth() > limits::kMaxTemplateValueDepth) {
    return fail(ErrorCode::kInvalidArgument, "a value of the template is nested deeper than {} levels",
                limits::kMaxTemplateValueDepth);
  }
  if (value.weight() > meter_.limit()) {
    return fail(ErrorCode::kInvalidArgument, "a value of the template is larger than {} bytes",
                meter_.limit());
  }
  return value;
}

Result<Value> Runtime::list(std::vector<Value> items) {
  charge(items.size() / 4);
  return check_size(ListRef(std::make_shared<const List>(&meter_, std::move(items))));
}

Result<Value> Runtime::tuple(std::vector<Value> items) {
  charge(items.size() / 4);
  return check_size(TupleRef(std::make_shared<const Tuple>(&meter_, std::move(items))));
}

Result<Value> Runtime::group(Value key, Value items) {
  std::vector<Value> pair = {std::move(key), std::move(items)};
  return check_size(TupleRef(std::make_shared<const Tuple>(&meter_, std::move(pair), true)));
}

Result<Value> Runtime::dict(std::vector<Dict::Entry> entries) {
  charge(2 * entries.size());
  for (const auto& [key, value] : entries) {
    if (!is_hashable(key)) return fail(ErrorCode::kInvalidArgument, "unhashable type: '{}'", key.type_name());
  }
  return check_size(DictRef(std::make_shared<const Dict>(&meter_, std::move(entries))));
}

Value Runtime::undefined(std::string reason) {
  return Undefined{std::make_shared<const Reason>(&meter_, std::move(reason))};
}

}  // namespace tempo9::chat::jinja
