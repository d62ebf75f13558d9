// <tool_call><function=f><parameter=p>…</parameter></function></tool_call>: Qwen 3.5, Qwen3-Coder and others.
// A value is the text between the tags, one line break at either end left aside; what it is only the tool's
// schema says. It ends where another parameter or the function's end follows, so it may speak of the tags.
#include <array>
#include <set>

#include "chat/parsers/argument_types.h"
#include "chat/parsers/enclosed.h"
#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

constexpr std::string_view kParameterBegin = "<parameter=", kParameterEnd = "</parameter>";
constexpr std::string_view kFunctionBegin = "<function=", kFunctionEnd = "</function>";
constexpr size_t kMaxBlanks = 64;  // behind a value

// Whether this is where a value ends: its closing tag and then a tag. Of what it reads it takes the former
// only.
Reading<bool> read_value_end(Source& in) {
  const bool closed = co_await read_literal(in, kParameterEnd);
  if (!closed) co_return false;
  size_t read = 0;
  int next = co_await in.peek();
  for (; is_blank(next) && read < kMaxBlanks; ++read) {
    in.take();
    next = co_await in.peek();
  }
  bool ends = co_await read_literal(in, kParameterBegin);
  if (ends) {
    read += kParameterBegin.size();
  } else {
    ends = co_await read_literal(in, kFunctionEnd);
    if (ends) read += kFunctionEnd.size();
  }
  in.give_back(ends ? read : read + kParameterEnd.size());
  co_return ends;
}

// A value's text as it comes, the line break in front of its end left aside.
class ParameterValue {
 public:
  ParameterValue(Answer& out, unsigned allowed) : out_(out), allowed_(allowed) {
    if (streams()) out_.put("\"");
  }
  void put(char c) {
    if (c == '\n' && first_) {
      first_ = false;
      return;
    }
    first_ = false;
    if (break_) write('\n');
    break_ = c == '\n';
    if (!break_) write(c);
  }
  void finish() { out_.put(streams() ? "\"" : type_value(text_, allowed_)); }

 private:
  bool streams() const { return allowed_ == types::kString; }
  void write(char c) {
    if (!streams()) {
      text_ += c;
      return;
    }
    std::string escaped;
    append_escaped(escaped, c);
    out_.put(escaped);
  }

  Answer& out_;
  const unsigned allowed_;
  bool first_ = true, break_ = false;
  std::string text_;
};

Reading<bool> read_parameter_value(Source& in, Answer& out, unsigned allowed) {
  ParameterValue value(out, allowed);
  for (;;) {
    const int c = co_await in.peek();
    if (c == Source::kEnd) co_return false;
    if (c == '<') {
      const bool ends = co_await read_value_end(in);
      if (ends) break;
    }
    in.take();
    value.put(static_cast<char>(c));
  }
  value.finish();
  co_return true;
}

// The name in a tag, whose end is taken.
Reading<std::string> read_tag_name(Source& in) {
  std::string name = co_await read_name(in, [](int c) { return c != '>' && c != '\n'; });
  const bool closed = co_await read_literal(in, ">");
  if (!closed) name.clear();
  co_return name;
}

Reading<bool> read_parameters(Source& in, Answer& out) {
  std::set<std::string> names;
  for (;;) {
    co_await skip_blanks(in);
    const bool ended = co_await read_literal(in, kFunctionEnd);
    if (ended) co_return true;
    const bool begun = co_await read_literal(in, kParameterBegin);
    if (!begun) co_return false;
    const std::string name = co_await read_tag_name(in);
    if (name.empty() || !names.insert(name).second) co_return false;
    out.put((names.size() > 1 ? ", " : "") + quote_json(name) + ": ");
    const bool read = co_await read_parameter_value(
        in, out, out.tool() == nullptr ? types::kAny : allowed_types(*out.tool(), name));
    if (!read) co_return false;
  }
}

Reading<bool> read_function(ReplyContext& context) {
  const bool begun = co_await read_literal(context.in, kFunctionBegin);
  if (!begun) co_return false;
  const std::string name = co_await read_tag_name(context.in);
  if (name.empty()) co_return false;
  context.out.name_call(name);
  context.out.put("{");
  co_return co_await read_parameters(context.in, context.out);
}

}  // namespace

Reading<bool> read_qwen_xml(ReplyContext& context) {
  return read_enclosed_calls(context, {"<tool_call>", "</tool_call>", kFunctionBegin, read_function});
}

}  // namespace tempo9::chat
