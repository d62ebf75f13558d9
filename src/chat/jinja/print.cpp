#include "chat/jinja/print.h"

#include <fmt/format.h>

#include <utility>

#include "chat/jinja/number.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

// Gives the escaped text to take(std::string) in pieces, so that it is never held twice.
template <class Take>
void escape(std::string_view text, char quote_mark, const Take& take) {
  constexpr size_t kPiece = 4096;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const unicode::Character character = unicode::decode(text, at);
    const char32_t value = character.value;
    if (value == '\\' || value == static_cast<char32_t>(quote_mark)) {
      out += {'\\', static_cast<char>(value)};
    } else if (value == '\n') {
      out += "\\n";
    } else if (value == '\r') {
      out += "\\r";
    } else if (value == '\t') {
      out += "\\t";
    } else if (unicode::is_printable(value)) {
      out += text.substr(at, character.length);
    } else if (value < 0x100) {
      out += fmt::format("\\x{:02x}", static_cast<uint32_t>(value));
    } else if (value < 0x10000) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(value));
    } else {
      out += fmt::format("\\U{:08x}", static_cast<uint32_t>(value));
    }
    at += character.length;
    if (out.size() >= kPiece) take(std::exchange(out, {}));
  }
  take(std::move(out));
}

char quote_mark_for(std::string_view text) {
  return text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
}

Status append_items(Runtime& runtime, Text& out, const std::vector<Value>& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != 0) out.append(", ");
    TRY(append_repr(runtime, out, items[i]));
  }
  return {};
}

Status append_dict(Runtime& runtime, Text& out, const Dict& dict) {
  out.append("{");
  for (size_t i = 0; i < dict.size(); ++i) {
    if (i != 0) out.append(", ");
    TRY(append_repr(runtime, out, dict.entries()[i].first));
    out.append(": ");
    TRY(append_repr(runtime, out, dict.entries()[i].second));
  }
  out.append("}");
  return {};
}

void append_string(Text& out, const Text& text) {
  const char mark = quote_mark_for(text.view());
  const std::string_view quote_text(&mark, 1);
  if (text.is_markup()) out.append("Markup(");
  out.append(quote_text);
  escape(text.view(), mark, [&](std::string piece) { out.append(text.derive(std::move(piece))); });
  out.append(quote_text);
  if (text.is_markup()) out.append(")");
}

}  // namespace

Status append_repr(Runtime& runtime, Text& out, const Value& value) {
  TRY(runtime.reserve(0));
  switch (value.kind()) {
    case Kind::kUndefined:
      out.append("Undefined");
      return {};
    case Kind::kNone:
      out.append("None");
      return {};
    case Kind::kBool:
      out.append(value.boolean() ? "True" : "False");
      return {};
    case Kind::kInteger:
      out.append(format_integer(value.integer()));
      return {};
    case Kind::kFloat:
      out.append(format_float(value.number()));
      return {};
    case Kind::kString:
      append_string(out, value.text());
      return {};
    case Kind::kList:
      out.append("[");
      TRY(append_items(runtime, out, value.list()));
      out.append("]");
      return {};
    case Kind::kTuple:
      out.append("(");
      TRY(append_items(runtime, out, value.tuple().items));
      out.append(value.tuple().items.size() == 1 ? ",)" : ")");
      return {};
    case Kind::kDict:
      return append_dict(runtime, out, value.dict());
    case Kind::kObject:
      return value.object().append_repr(runtime, out);
  }
  return {};
}

Status append_str(Runtime& runtime, Text& out, const Value& value) {
  if (value.is_undefined()) return {};
  if (!value.is_string()) {
    const size_t before = out.size();
    TRY(append_repr(runtime, out, value));
    runtime.charge_bytes(out.size() - before);
    return {};
  }
  runtime.charge_bytes(value.text().size());
  out.append(value.text());
  return {};
}

Result<Text> to_str(Runtime& runtime, const Value& value) {
  Text text(runtime.meter());
  TRY(append_str(runtime, text, value));
  return text;
}

Result<Text> to_repr(Runtime& runtime, const Value& value) {
  Text text(runtime.meter());
  TRY(append_repr(runtime, text, value));
  runtime.charge_bytes(text.size());
  return text;
}

std::string shorten(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (text[most] & 0xC0) == 0x80) --most;
  return std::string(text.substr(0, most)) + "…";
}

std::string quote(std::string_view text) {
  const std::string shown = shorten(text);
  const char mark = quote_mark_for(shown);
  std::string quoted(1, mark);
  escape(shown, mark, [&quoted](const std::string& piece) { quoted += piece; });
  quoted.push_back(mark);
  return quoted;
}

}  // namespace tempo9::chat::jinja
