// Attributes, items and slices with the rules of Jinja's sandbox: `a.b` prefers an attribute (a method),
// `a[b]` an item, each falls back to the other, what is absent is undefined, and what would change a list or
// dict is refused when used.
#pragma once
#include <optional>
#include <string_view>

#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

Result<Value> get_attribute(Runtime& runtime, const Value& value, std::string_view name);
// The same without the fall-back to an item, as the filter `attr` does.
Result<Value> get_plain_attribute(Runtime& runtime, const Value& value, std::string_view name);
Result<Value> get_item(Runtime& runtime, const Value& value, const Value& key);
// `value[start:stop:step]`; absent bounds are None.
Result<Value> get_slice(Runtime& runtime, const Value& value, const Value& start, const Value& stop,
                        const Value& step);

// `a.b.0` as filters write it: items, whose parts that are digits are indexes. `otherwise`, if not null,
// takes the place of what is undefined.
Result<Value> get_path(Runtime& runtime, Value value, const Value& path, const Value* otherwise = nullptr);

}  // namespace tempo9::chat::jinja
