// Cutting, searching and padding of strings, shared by their methods and by filters.
#pragma once
#include <functional>
#include <string_view>

#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

// Without the characters of `characters` (null: white space) at its ends. The same value if nothing goes.
Result<Value> strip_text(Runtime& runtime, const Value& value, const Text* characters, bool left, bool right);
// The first `count` occurrences; all if negative.
Result<Value> replace_text(Runtime& runtime, const Text& text, const Text& old, const Text& fresh,
                           Integer count);
// Calls take(begin, end) for every line that Python's str.splitlines() finds, until it fails.
Status for_each_line(const Text& text, bool keep_ends, const std::function<Status(size_t, size_t)>& take);
// Characters missing to a width, which must not exceed the memory limit.
Result<size_t> missing_width(Runtime& runtime, const Text& text, Integer width);
Result<Value> justify_text(Runtime& runtime, const Value& value, Integer width, const Text& fill, char align);
// A letter of the wanted case, and none of the unwanted or of title case.
bool is_case(std::string_view text, bool (*wanted)(char32_t), bool (*unwanted)(char32_t));

// The part of a text that optional character bounds leave to a search. Not valid if start is behind the end.
struct SearchWindow {
  std::string_view text;
  size_t begin = 0;  // byte
  bool valid = true;
};
Result<SearchWindow> search_window(Runtime& runtime, const Text& text, const Value* start, const Value* end);
size_t find_last(std::string_view text, std::string_view needle);

// Methods.
template <bool last>
Result<Value> partition(Runtime& runtime, const Value& self, const Arguments& arguments);
template <bool from_right>
Result<Value> split(Runtime& runtime, const Value& self, const Arguments& arguments);
Result<Value> split_lines(Runtime& runtime, const Value& self, const Arguments& arguments);
Result<Value> expand_tabs(Runtime& runtime, const Value& self, const Arguments& arguments);

}  // namespace tempo9::chat::jinja
