// Filters that make text.
#include <fmt/format.h>

#include <algorithm>

#include "chat/jinja/access.h"
#include "chat/jinja/bind.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/format.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/json_writer.h"
#include "chat/jinja/markup.h"
#include "chat/jinja/number.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/string_search.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

// The value itself if it is a string, else str(value).
Result<Value> as_string(Runtime& runtime, const Value& value) {
  if (value.is_string()) return value;
  TRY_ASSIGN(Text text, to_str(runtime, value));
  return runtime.string(std::move(text));
}

Result<Value> string(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "string", {}));
  return as_string(runtime, value);
}

using Mapping = std::string (*)(std::string_view);
constexpr size_t kMappingCost = 4;     // of a byte, in bytes walked over: each character is looked up
constexpr size_t kMappingGrowth = 16;  // bytes that one may need while the result and a word of it grow

template <Mapping map>
Result<Value> mapped(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "this filter", {}));
  TRY_ASSIGN(const Value text, as_string(runtime, value));
  runtime.charge_bytes(kMappingCost * text.text().size());
  TRY(runtime.reserve(kMappingGrowth * text.text().size()));
  return runtime.string(text.text().derive(map(text.view())));
}

// Upper case behind white space, hyphens and opening brackets, lower case elsewhere.
std::string title_words(std::string_view text) {
  std::string titled;
  for (size_t at = 0; at < text.size();) {
    const auto splits = [&](size_t i) {
      return std::string_view("-({[<").find(text[i]) != std::string_view::npos ||
             unicode::is_space(unicode::decode(text, i).value);
    };
    const size_t first = unicode::decode(text, at).length;
    if (splits(at)) {
      titled += text.substr(at, first);
      at += first;
      continue;
    }
    size_t end = at + first;
    while (end < text.size() && !splits(end)) end += unicode::decode(text, end).length;
    titled += unicode::upper(text.substr(at, first));
    titled += unicode::lower(text.substr(at + first, end - at - first));
    at = end;
  }
  return titled;
}

Result<Value> trim(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "trim", {"chars"}));
  TRY_ASSIGN(const Value text, as_string(runtime, value));
  const Text* characters = nullptr;
  if (bound.is_set(0)) {
    TRY_ASSIGN(characters, text_argument(*bound[0]));
  }
  return strip_text(runtime, text, characters, true, true);
}

Result<Value> replace(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "replace", {"old", "new", "count"}, 2));
  TRY_ASSIGN(Text text, to_str(runtime, value));
  TRY_ASSIGN(const Text old, to_str(runtime, *bound[0]));
  TRY_ASSIGN(const Text fresh, to_str(runtime, *bound[1]));
  Integer count = -1;
  if (bound.is_set(2)) {
    TRY_ASSIGN(count, integer_argument(*bound[2]));
  }
  text.set_markup(false);
  return replace_text(runtime, text, old, fresh, count);
}

Result<Value> join(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "join", {"d", "attribute"}));
  Text separator(runtime.meter());
  if (bound.has(0)) {
    TRY_ASSIGN(separator, to_str(runtime, *bound[0]));
  }
  TRY_ASSIGN(Cursor cursor, Cursor::over(value));
  Text joined(runtime.meter());
  for (bool first = true;; first = false) {
    TRY_ASSIGN(std::optional<Value> item, cursor.next(runtime));
    if (!item) break;
    if (bound.is_set(1)) {
      TRY_ASSIGN(item, get_path(runtime, *item, *bound[1]));
    }
    if (!first) joined.append(separator);
    TRY(append_str(runtime, joined, *item));
  }
  return runtime.string(std::move(joined));
}

Result<Value> center(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "center", {"width"}));
  Integer width = 80;
  if (bound.has(0)) {
    TRY_ASSIGN(width, integer_argument(*bound[0]));
  }
  TRY_ASSIGN(const Value text, as_string(runtime, value));
  return justify_text(runtime, text, width, Text(" "), '^');
}

Result<Value> indent(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "indent", {"width", "first", "blank"}));
  TRY_ASSIGN(const Text* text, text_argument(value));
  Text indentation("    ");
  if (bound.has(0) && bound[0]->is_string()) {
    indentation = bound[0]->text();
  } else if (bound.has(0)) {
    TRY_ASSIGN(const Integer width, integer_argument(*bound[0]));
    TRY_ASSIGN(const Value spaces, apply(runtime, BinaryOperator::kMultiply, runtime.string(" "), width));
    indentation = spaces.text();
  }
  Text whole(runtime.meter());
  whole.reserve(text->size() + 1);
  whole.append(*text);
  whole.append("\n");
  const bool blank = bound.truthy(2, false);
  Text indented(runtime.meter());
  if (bound.truthy(1, false)) indented.append(indentation);
  TRY(for_each_line(whole, false, [&](size_t begin, size_t end) {
    if (begin != 0) indented.append("\n");
    if (begin != 0 && (blank || begin != end)) indented.append(indentation);
    indented.append(whole, begin, end);
    return runtime.step();
  }));
  indented.set_markup(text->is_markup());
  return runtime.string(std::move(indented));
}

Result<Value> format(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Value text, as_string(runtime, value));
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "can't handle positional and keyword arguments at the same time");
  }
  Value values;
  if (arguments.named.empty()) {
    TRY(runtime.reserve(arguments.positional.size() * sizeof(Value)));
    TRY_ASSIGN(values, runtime.tuple(arguments.positional));
  } else {
    std::vector<Dict::Entry> entries;
    for (const auto& [name, argument] : arguments.named)
      TRY(runtime.push(entries, {runtime.string(name), argument}));
    TRY_ASSIGN(values, runtime.dict(std::move(entries)));
  }
  TRY_ASSIGN(Text formatted, format_percent(runtime, text.text(), values));
  return runtime.string(std::move(formatted));
}

Result<Value> safe(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "safe", {}));
  TRY_ASSIGN(Text text, to_str(runtime, value));
  text.set_markup(true);
  return runtime.string(std::move(text));
}

template <bool force>
Result<Value> escape(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "escape", {}));
  TRY_ASSIGN(Text text, to_str(runtime, value));
  text.set_markup(!force && value.is_string() && value.text().is_markup());
  return runtime.string(escape_html(runtime, text));
}

Result<Value> truncate_text(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "truncate", {"length", "killwords", "end", "leeway"}));
  TRY_ASSIGN(const Text* text, text_argument(value));
  Integer length = 255, leeway = 5;
  Text end("...");
  if (bound.has(0)) {
    TRY_ASSIGN(length, integer_argument(*bound[0]));
  }
  if (bound.has(2)) {
    TRY_ASSIGN(const Text* given, text_argument(*bound[2]));
    end = *given;
  }
  if (bound.is_set(3)) {
    TRY_ASSIGN(leeway, integer_argument(*bound[3]));
  }
  const auto end_length = static_cast<Integer>(unicode::count(end.view()));
  if (length < end_length || leeway < 0) {
    return fail(ErrorCode::kInvalidArgument,
                "truncate() got a length below that of its end, or a leeway below 0");
  }
  const auto size = static_cast<Integer>(unicode::count(text->view()));
  if (size - leeway <= length) return value;
  size_t keep = unicode::offset(text->view(), static_cast<size_t>(length - end_length));
  if (!bound.truthy(1, false)) {
    const size_t space = text->view().substr(0, keep).rfind(' ');
    if (space != std::string_view::npos) keep = space;
  }
  Text result = text->slice(0, keep);
  result.append(end);
  return runtime.string(std::move(result));
}

Result<Value> count_words(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "wordcount", {}));
  TRY_ASSIGN(const Value text, as_string(runtime, value));
  Integer words = 0;
  bool within = false;
  for (size_t at = 0; at < text.text().size();) {
    const unicode::Character character = unicode::decode(text.view(), at);
    const bool word = character.value == '_' || unicode::is_alphabetic(character.value) ||
                      unicode::is_numeric(character.value);
    if (word && !within) ++words;
    within = word;
    at += character.length;
  }
  return words;
}

constexpr size_t kQuotedByte = 3;  // "%20"

std::string quote_url(std::string_view text, bool in_query) {
  std::string quoted;
  quoted.reserve(kQuotedByte * text.size());
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && !in_query);
    if (plain) {
      quoted += c;
    } else if (c == ' ' && in_query) {
      quoted += '+';
    } else {
      quoted += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return quoted;
}

Result<Value> encode_url(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "urlencode", {}));
  if (value.is_string() || !is_iterable(value)) {
    TRY_ASSIGN(const Text text, to_str(runtime, value));
    TRY(runtime.reserve(kQuotedByte * text.size()));
    return runtime.string(text.derive(quote_url(text.view(), false)));
  }
  Collected pairs;
  if (value.is(Kind::kDict)) {
    for (const auto& [key, item] : value.dict().entries()) {
      TRY_ASSIGN(Value pair, runtime.tuple({key, item}));
      TRY(runtime.push(pairs.items, std::move(pair)));
    }
  } else {
    TRY_ASSIGN(pairs, collect(runtime, value));
  }
  Text query(runtime.meter());
  for (const Value& pair : pairs.items) {
    TRY_ASSIGN(const Collected key_and_value, collect(runtime, pair));
    const auto& items = key_and_value.items;
    if (items.size() != 2) return fail(ErrorCode::kInvalidArgument, "urlencode needs pairs");
    if (!query.empty()) query.append("&");
    for (size_t i = 0; i < 2; ++i) {
      TRY_ASSIGN(const Text text, to_str(runtime, items[i]));
      TRY(runtime.reserve(kQuotedByte * text.size()));
      query.append(text.derive(quote_url(text.view(), true)));
      if (i == 0) query.append("=");
    }
  }
  return runtime.string(std::move(query));
}

Result<JsonStyle> json_style(Runtime& runtime, const Bound& bound) {
  JsonStyle style;
  style.ascii_only = bound.truthy(0, false);
  style.sort_keys = bound.truthy(3, false);
  if (bound.is_set(1)) {
    if (bound[1]->is_string()) {
      style.indent = bound[1]->text().bytes();
    } else {
      TRY_ASSIGN(const Integer width, integer_argument(*bound[1]));
      TRY_ASSIGN(const Value spaces, apply(runtime, BinaryOperator::kMultiply, runtime.string(" "), width));
      TRY(runtime.reserve(spaces.text().size()));
      style.indent = spaces.text().bytes();
    }
    style.item_separator = std::string(",");
    style.held = Metered(runtime.meter(), style.indent->capacity());
  }
  if (!bound.is_set(2)) return style;
  TRY_ASSIGN(const Collected collected, collect(runtime, *bound[2]));
  const auto& separators = collected.items;
  if (separators.size() != 2 || !separators[0].is_string() || !separators[1].is_string()) {
    return fail(ErrorCode::kInvalidArgument, "the separators of tojson must be two strings");
  }
  TRY(runtime.reserve(separators[0].text().size() + separators[1].text().size()));
  style.item_separator = separators[0].text().bytes();
  style.key_separator = separators[1].text().bytes();
  const size_t indent = style.indent ? style.indent->capacity() : 0;
  style.held =
      Metered(runtime.meter(), indent + style.item_separator.capacity() + style.key_separator.capacity());
  return style;
}

Result<Value> to_json(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound,
             bind(arguments, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"}));
  TRY_ASSIGN(const JsonStyle style, json_style(runtime, bound));
  TRY_ASSIGN(Text text, write_json(runtime, value, style));
  return runtime.string(std::move(text));
}

constexpr FilterEntry kTextFilters[] = {
    {"capitalize", mapped<unicode::capitalize>},
    {"center", center},
    {"e", escape<false>},
    {"escape", escape<false>},
    {"forceescape", escape<true>},
    {"format", format},
    {"indent", indent},
    {"join", join},
    {"lower", mapped<unicode::lower>},
    {"replace", replace},
    {"safe", safe},
    {"string", string},
    {"title", mapped<title_words>},
    {"tojson", to_json},
    {"trim", trim},
    {"truncate", truncate_text},
    {"upper", mapped<unicode::upper>},
    {"urlencode", encode_url},
    {"wordcount", count_words},
};

}  // namespace

std::span<const FilterEntry> text_filters() {
  return kTextFilters;
}

}  // namespace tempo9::chat::jinja
