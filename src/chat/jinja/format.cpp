#include "chat/jinja/format.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "chat/jinja/access.h"
#include "chat/jinja/format_spec.h"
#include "chat/jinja/markup.h"
#include "chat/jinja/number.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"

namespace tempo9::chat::jinja {
namespace {

tl::unexpected<Error> incomplete() {
  return fail(ErrorCode::kInvalidArgument, "incomplete format");
}

class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const Text& format, const Value& values)
      : runtime_(runtime), format_(format), values_(values), out_(runtime.meter()) {}

  Result<Text> run() {
    const std::string_view text = format_.view();
    while (at_ < text.size()) {
      const size_t percent = std::min(text.find('%', at_), text.size());
      out_.append(format_, at_, percent);
      at_ = percent + 1;
      if (percent == text.size()) break;
      TRY(runtime_.step());
      TRY(append_field());
    }
    const bool one_unused = !values_.is(Kind::kTuple) && !values_.is(Kind::kDict) && !values_.is(Kind::kList);
    const size_t given = values_.is(Kind::kTuple) ? values_.tuple().items.size() : one_unused ? 1 : 0;
    if (used_ < given) {
      return fail(ErrorCode::kInvalidArgument, "not all arguments converted during string formatting");
    }
    out_.set_markup(format_.is_markup());
    return std::move(out_);
  }

 private:
  char peek() const { return at_ < format_.size() ? format_.bytes()[at_] : '\0'; }

  Result<Value> next_value() {
    if (values_.is(Kind::kTuple)) {
      if (used_ < values_.tuple().items.size()) return values_.tuple().items[used_++];
    } else if (used_++ == 0) {
      return values_;
    }
    return fail(ErrorCode::kInvalidArgument, "not enough arguments for format string");
  }

  Result<Value> named_value() {
    const size_t close = format_.view().find(')', at_);
    if (close == std::string_view::npos) return fail(ErrorCode::kInvalidArgument, "incomplete format key");
    const std::string_view key = format_.view().substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    if (!values_.is(Kind::kDict)) return fail(ErrorCode::kInvalidArgument, "format requires a mapping");
    if (const Value* value = values_.dict().find(key)) return *value;
    return fail(ErrorCode::kInvalidArgument, "KeyError: {}", quote(key));
  }

  // A width or precision: digits, or `*` for one of the values.
  Result<std::optional<size_t>> read_count() {
    if (peek() == '*') {
      ++at_;
      TRY_ASSIGN(const Value value, next_value());
      if (!is_integral(value)) return fail(ErrorCode::kInvalidArgument, "* wants int");
      const Integer count = as_integer(value);
      if (count < 0 || count > Integer{limits::kMaxTemplateMemoryBytes}) {
        return fail(ErrorCode::kInvalidArgument, "the width of a format is out of range");
      }
      return static_cast<size_t>(count);
    }
    if (peek() < '0' || peek() > '9') return std::nullopt;
    size_t count = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      count = count * 10 + static_cast<size_t>(peek() - '0');
      if (count > limits::kMaxTemplateMemoryBytes) {
        return fail(ErrorCode::kInvalidArgument, "the width of a format is out of range");
      }
    }
    return count;
  }

  void read_flags(FormatSpec& spec) {
    bool zero = false, left = false;
    for (;; ++at_) {
      const char c = peek();
      if (c == '-') {
        left = true;
      } else if (c == '+') {
        spec.sign = '+';
      } else if (c == ' ') {
        if (spec.sign != '+') spec.sign = ' ';
      } else if (c == '#') {
        spec.alternate = true;
      } else if (c == '0') {
        zero = true;
      } else {
        break;
      }
    }
    if (left) {
      spec.align = '<';
    } else if (zero) {
      spec.align = '=';
      spec.fill = "0";
    }
  }

  Status append_field() {
    if (peek() == '%') {
      ++at_;
      out_.append("%");
      return {};
    }
    std::optional<Value> value;
    if (peek() == '(') {
      TRY_ASSIGN(value, named_value());
    }
    FormatSpec spec;
    read_flags(spec);
    TRY_ASSIGN(const std::optional<size_t> width, read_count());
    spec.width = width.value_or(0);
    if (peek() == '.') {
      ++at_;
      TRY_ASSIGN(const std::optional<size_t> precision, read_count());
      spec.precision = precision.value_or(0);
    }
    while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
    if (at_ >= format_.size()) return incomplete();
    spec.type = format_.bytes()[at_++];
    if (spec.type == '%') {
      out_.append("%");
      return {};
    }
    if (!value) {
      TRY_ASSIGN(value, next_value());
    }
    TRY_ASSIGN(const Text text, format_one(*value, spec));
    out_.append(text);
    return {};
  }

  Result<Text> format_one(const Value& value, FormatSpec spec) {
    switch (spec.type) {
      case 's':
      case 'r':
      case 'a':
        return format_text(value, spec);
      case 'c':
        if (value.is_string()) return format_text(value, spec);
        break;
      case 'i':
      case 'u':
      case 'd':
        spec.type = 'd';
        break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'x':
      case 'X':
      case 'o':
        break;
      default:
        return fail(ErrorCode::kInvalidArgument, "unsupported format character '{}'", spec.type);
    }
    if (value.is_undefined()) return use_of_undefined(value);
    if (!is_number(value)) {
      return fail(ErrorCode::kInvalidArgument, "%{} format: a real number is required, not {}", spec.type,
                  value.type_name());
    }
    if (spec.type != 'd') return format_number(runtime_, value, spec);
    return format_decimal(value, spec);
  }

  // `%d` takes floats too; its precision is a least number of digits.
  Result<Text> format_decimal(const Value& value, FormatSpec spec) {
    std::optional<Integer> integer = is_integral(value) ? as_integer(value) : truncate(value.number());
    if (!integer) return fail(ErrorCode::kInvalidArgument, "cannot convert float to integer");
    if (const size_t digits = std::exchange(spec.precision, std::nullopt).value_or(0); digits > 0) {
      const bool signed_number = *integer < 0 || spec.sign != '-';
      FormatSpec zeros = spec;
      zeros.fill = "0";
      zeros.align = '=';
      zeros.width = digits + (signed_number ? 1 : 0);
      TRY_ASSIGN(const Text padded, format_number(runtime_, *integer, zeros));
      return format_string(runtime_, padded, spec, '>');
    }
    return format_number(runtime_, *integer, spec);
  }

  Result<Text> format_text(const Value& value, FormatSpec spec) {
    Text text(runtime_.meter());
    if (spec.type == 's' || spec.type == 'c') {
      TRY(append_str(runtime_, text, value));
      text.set_markup(value.is_string() && value.text().is_markup());
      if (format_.is_markup()) text = escape_html(runtime_, text);
    } else {
      TRY(append_repr(runtime_, text, value));
    }
    if (spec.align == '=') spec.align = '>';
    spec.fill = " ";
    return format_string(runtime_, text, spec, '>');
  }

  Runtime& runtime_;
  const Text& format_;
  const Value& values_;
  Text out_;
  size_t at_ = 0, used_ = 0;
};

class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, const Arguments& arguments, bool markup)
      : runtime_(runtime), arguments_(arguments), markup_(markup) {}

  Result<Text> run(const Text& format, int levels = 2) {
    if (levels < 0) return fail(ErrorCode::kInvalidArgument, "Max string recursion exceeded");
    const std::string_view text = format.view();
    Text out(runtime_.meter());
    for (size_t at = 0; at < text.size();) {
      const size_t brace = std::min(text.find_first_of("{}", at), text.size());
      out.append(format, at, brace);
      if (brace == text.size()) break;
      TRY(runtime_.step());
      at = brace + 1;
      if (at < text.size() && text[at] == text[brace]) {
        out.append(format, at, at + 1);
        ++at;
        continue;
      }
      if (text[brace] == '}') {
        return fail(ErrorCode::kInvalidArgument, "Single '}}' encountered in format string");
      }
      TRY_ASSIGN(const size_t close, find_close(text, at));
      TRY_ASSIGN(const Text field, format_field(format.slice(at, close), levels));
      out.append(field);
      at = close + 1;
    }
    return out;
  }

 private:
  static Result<size_t> find_close(std::string_view text, size_t at) {
    for (int open = 1; at < text.size(); ++at) {
      if (text[at] == '{') ++open;
      if (text[at] == '}' && --open == 0) return at;
    }
    return fail(ErrorCode::kInvalidArgument, "expected '}}' before end of string");
  }

  // `name!conversion:spec`
  Result<Text> format_field(const Text& field, int levels) {
    const std::string_view text = field.view();
    const size_t name_end = std::min(text.find_first_of("!:"), text.size());
    TRY_ASSIGN(Value value, find_value(text.substr(0, name_end)));
    size_t at = name_end;
    if (at < text.size() && text[at] == '!') {
      const char conversion = at + 1 < text.size() ? text[at + 1] : '\0';
      TRY_ASSIGN(value, convert(value, conversion));
      at += 2;
      if (at < text.size() && text[at] != ':') {
        return fail(ErrorCode::kInvalidArgument, "expected ':' after conversion specifier");
      }
    }
    TRY_ASSIGN(const Text spec, run(field.slice(std::min(at + 1, text.size()), text.size()), levels - 1));
    if (spec.empty() || markup_) {
      Text plain(runtime_.meter());
      TRY(append_str(runtime_, plain, value));
      plain.set_markup(value.is_string() && value.text().is_markup());
      if (markup_) plain = escape_html(runtime_, plain);
      if (spec.empty()) return plain;
      value = runtime_.string(std::move(plain));
    }
    TRY_ASSIGN(const FormatSpec parsed, parse_format_spec(spec.view()));
    return format_value(runtime_, value, parsed);
  }

  Result<Value> convert(const Value& value, char conversion) {
    if (conversion == 's') {
      TRY_ASSIGN(Text text, to_str(runtime_, value));
      return runtime_.string(std::move(text));
    }
    if (conversion == 'r' || conversion == 'a') {
      TRY_ASSIGN(Text text, to_repr(runtime_, value));
      return runtime_.string(std::move(text));
    }
    return fail(ErrorCode::kInvalidArgument, "Unknown conversion specifier");
  }

  // `0.name[key]`
  Result<Value> find_value(std::string_view path) {
    const size_t first_end = std::min(path.find_first_of(".["), path.size());
    TRY_ASSIGN(Value value, find_argument(path.substr(0, first_end)));
    size_t at = first_end;
    while (at < path.size()) {
      if (path[at] == '.') {
        const size_t end = std::min(path.find_first_of(".[", at + 1), path.size());
        TRY_ASSIGN(value, get_attribute(runtime_, value, path.substr(at + 1, end - at - 1)));
        at = end;
      } else {
        const size_t end = path.find(']', at);
        if (path[at] != '[' || end == path.npos) {
          return fail(ErrorCode::kInvalidArgument, "a format field is malformed");
        }
        const std::string_view key = path.substr(at + 1, end - at - 1);
        bool overflow = false;
        const bool number = !key.empty() && key.find_first_not_of("0123456789") == key.npos;
        const std::optional<Integer> index = number ? parse_integer(key, 10, overflow) : std::nullopt;
        TRY_ASSIGN(value, get_item(runtime_, value, index ? Value(*index) : runtime_.string(key)));
        at = end + 1;
      }
    }
    return value;
  }

  Result<Value> find_argument(std::string_view name) {
    const bool number = name.find_first_not_of("0123456789") == name.npos;
    if (!number) {
      const auto named =
          std::ranges::find_if(arguments_.named, [&](const auto& n) { return n.first == name; });
      if (named != arguments_.named.end()) return named->second;
      return fail(ErrorCode::kInvalidArgument, "KeyError: {}", quote(name));
    }
    const Numbering numbering = name.empty() ? Numbering::kAutomatic : Numbering::kManual;
    if (numbering_ == Numbering::kUnknown) numbering_ = numbering;
    if (numbering_ != numbering) {
      return fail(ErrorCode::kInvalidArgument,
                  "cannot switch between manual field specification and automatic field numbering");
    }
    bool overflow = false;
    const std::optional<Integer> index =
        name.empty() ? Integer{next_argument_++} : parse_integer(name, 10, overflow);
    if (!index || *index >= Integer{arguments_.positional.size()}) {
      return fail(ErrorCode::kInvalidArgument, "Replacement index {} out of range for positional args tuple",
                  name.empty() ? std::to_string(next_argument_ - 1) : std::string(name));
    }
    return arguments_.positional[static_cast<size_t>(*index)];
  }

  enum class Numbering { kUnknown, kAutomatic, kManual };
  Runtime& runtime_;
  const Arguments& arguments_;
  bool markup_;
  Numbering numbering_ = Numbering::kUnknown;
  size_t next_argument_ = 0;
};

}  // namespace

Result<Text> format_percent(Runtime& runtime, const Text& format, const Value& values) {
  return PercentFormatter(runtime, format, values).run();
}

Result<Text> format_braces(Runtime& runtime, const Text& format, const Arguments& arguments) {
  TRY_ASSIGN(Text text, BraceFormatter(runtime, arguments, format.is_markup()).run(format));
  text.set_markup(format.is_markup());
  return text;
}

}  // namespace tempo9::chat::jinja
