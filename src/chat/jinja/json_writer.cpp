#include "chat/jinja/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "chat/jinja/number.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

void append_code_unit(std::string& out, uint32_t unit) {
  out += fmt::format("\\u{:04x}", unit);
}

// Gives the escaped text to take(std::string) in pieces, so that it is never held twice.
template <class Take>
void escape(std::string_view text, bool ascii_only, const Take& take) {
  constexpr size_t kPiece = 4096;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const unicode::Character character = unicode::decode(text, at);
    const char32_t value = character.value;
    if (value == '"' || value == '\\') {
      out += {'\\', static_cast<char>(value)};
    } else if (value == '\n') {
      out += "\\n";
    } else if (value == '\r') {
      out += "\\r";
    } else if (value == '\t') {
      out += "\\t";
    } else if (value == '\b') {
      out += "\\b";
    } else if (value == '\f') {
      out += "\\f";
    } else if (value < 0x20 || (ascii_only && value > 0x7E && value < 0x10000)) {
      append_code_unit(out, value);
    } else if (ascii_only && value >= 0x10000) {
      append_code_unit(out, 0xD800 + ((value - 0x10000) >> 10));
      append_code_unit(out, 0xDC00 + ((value - 0x10000) & 0x3FF));
    } else {
      out += text.substr(at, character.length);
    }
    at += character.length;
    if (out.size() >= kPiece) take(std::exchange(out, {}));
  }
  take(std::move(out));
}

std::string float_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return format_float(value);
}

class Writer {
 public:
  Writer(Runtime& runtime, const JsonStyle& style)
      : runtime_(runtime), style_(style), out_(runtime.meter()) {}

  Status write(const Value& value) {
    TRY(runtime_.reserve(0));
    switch (value.kind()) {
      case Kind::kNone:
        out_.append("null");
        return {};
      case Kind::kBool:
        out_.append(value.boolean() ? "true" : "false");
        return {};
      case Kind::kInteger:
        out_.append(format_integer(value.integer()));
        return {};
      case Kind::kFloat:
        out_.append(float_text(value.number()));
        return {};
      case Kind::kString:
        write_string(value.text());
        return {};
      case Kind::kList:
      case Kind::kTuple:
        return write_items(value.items());
      case Kind::kDict:
        return write_dict(value.dict());
      default:
        return fail(ErrorCode::kInvalidArgument, "Object of type {} is not JSON serializable",
                    value.type_name());
    }
  }

  Text take() { return std::move(out_); }

 private:
  void write_string(const Text& text) {
    out_.append("\"");
    escape(text.view(), style_.ascii_only,
           [&](std::string piece) { out_.append(text.derive(std::move(piece))); });
    out_.append("\"");
  }

  void new_line() {
    if (!style_.indent) return;
    out_.append("\n");
    for (int i = 0; i < level_; ++i) out_.append(*style_.indent);
  }

  Status write_items(const std::vector<Value>& items) {
    out_.append("[");
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i != 0) out_.append(style_.item_separator);
      new_line();
      TRY(write(items[i]));
    }
    --level_;
    if (!items.empty()) new_line();
    out_.append("]");
    return {};
  }

  Status write_dict(const Dict& dict) {
    const std::vector<Dict::Entry>* entries = &dict.entries();
    std::vector<Dict::Entry> sorted;
    Metered held;
    if (style_.sort_keys) {
      TRY_ASSIGN(held, runtime_.hold(2 * dict.size() * sizeof(Dict::Entry)));  // and while it is sorted
      sorted = dict.entries();
      TRY(sort_values(runtime_, sorted,
                      [](const Dict::Entry& entry) -> const Value& { return entry.first; }));
      entries = &sorted;
    }
    out_.append("{");
    ++level_;
    for (size_t i = 0; i < entries->size(); ++i) {
      if (i != 0) out_.append(style_.item_separator);
      new_line();
      TRY(write_key((*entries)[i].first));
      out_.append(style_.key_separator);
      TRY(write((*entries)[i].second));
    }
    --level_;
    if (!entries->empty()) new_line();
    out_.append("}");
    return {};
  }

  // Keys become strings: 1 is "1", true is "true".
  Status write_key(const Value& key) {
    if (key.is_string()) {
      write_string(key.text());
      return {};
    }
    if (!is_number(key) && !key.is_none()) {
      return fail(ErrorCode::kInvalidArgument, "keys must be str, int, float, bool or None, not {}",
                  key.type_name());
    }
    out_.append("\"");
    TRY(write(key));
    out_.append("\"");
    return {};
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  Text out_;
  int level_ = 0;
};

}  // namespace

Result<Text> write_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  Writer writer(runtime, style);
  TRY(writer.write(value));
  Text text = writer.take();
  runtime.charge_bytes(text.size());
  return text;
}

}  // namespace tempo9::chat::jinja
