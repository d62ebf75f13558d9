// Messages on channels: gpt-oss. A message is
//   <|start|>assistant<|channel|>CHANNEL<|message|>TEXT<|end|>
// and the prompt ends with the first one's start. "analysis" is thinking, "final" and "commentary" are
// answer. What has a recipient, `to=functions.f` behind the role or the channel, is a call; its text is JSON,
// which the header may say (`<|constrain|>json`). A call ends with <|call|>, and so does the reply: that
// token, and
// <|return|>, nobody sees here. A reply without any of this is answer.
#include <algorithm>
#include <array>

#include "chat/parsers/context.h"
#include "chat/parsers/json_value.h"
#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

constexpr std::string_view kFunctions = "functions.";

struct Header {
  std::string channel, recipient;
};

class MessageMarks {
 public:
  explicit MessageMarks(const ReplyContext& context)
      : stops_{context.spell("<|end|>"), context.spell("<|call|>"), context.spell("<|start|>"),
               context.spell("<|channel|>")},
        message_{context.spell("<|message|>"), context.spell("<|constrain|>")} {}

  // Where a message ends; with the last two another has begun without an end.
  std::span<const std::string> ends() const { return stops_; }
  bool begins_message(int end) const { return end >= 2; }
  const std::string& start() const { return stops_[2]; }
  const std::string& channel() const { return stops_[3]; }
  const std::string& message() const { return message_[0]; }
  const std::string& constrain() const { return message_[1]; }

 private:
  std::array<std::string, 4> stops_;
  std::array<std::string, 2> message_;
};

bool is_header_byte(int c) {
  return c != '\n' && c != '<' && c != static_cast<unsigned char>(kControlSign);
}

// "commentary to=functions.f json": the channel, and perhaps a recipient.
void add_words(std::string_view text, Header& header) {
  constexpr std::string_view kTo = "to=";
  for (bool first = true; !text.empty();) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (word.starts_with(kTo))
      header.recipient = word.substr(kTo.size());
    else if (first)
      header.channel = word;
    first = first && word.empty();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Role and recipient in front of the channel. Behind the prompt's own start there is at most a recipient.
Reading<bool> read_role(Source& in, const MessageMarks& marks, Header& header) {
  const bool started = co_await read_literal(in, marks.start());
  bool role = true;
  if (started) role = co_await read_literal(in, "assistant");
  if (!role) co_return false;
  bool addressed = co_await read_literal(in, " to=");
  if (!addressed) addressed = co_await read_literal(in, "to=");
  if (!addressed) co_return true;
  header.recipient = co_await read_name(in, is_header_byte);
  while (header.recipient.ends_with(' ')) header.recipient.pop_back();
  co_return true;
}

// Up to the message's text. False: it is no header.
Reading<bool> read_header(Source& in, const MessageMarks& marks, Header& header) {
  const bool role = co_await read_role(in, marks, header);
  if (!role) co_return false;
  const bool channel = co_await read_literal(in, marks.channel());
  if (channel) {
    const std::string words = co_await read_name(in, is_header_byte);
    add_words(words, header);
    const bool constrained = co_await read_literal(in, marks.constrain());
    if (constrained) co_await read_name(in, is_header_byte);
  }
  co_return co_await read_literal(in, marks.message());
}

// The message's text, and its end. Where another message has begun, its mark is to be read again.
Reading<bool> read_text(Source& in, Sink& out, const MessageMarks& marks, bool shows_end) {
  const int end = co_await read_until(in, out, marks.ends());
  if (end < 0) co_return true;
  const std::string& mark = marks.ends()[static_cast<size_t>(end)];
  if (marks.begins_message(end))
    in.give_back(mark.size());
  else if (shows_end)
    out.put(mark);
  co_return true;
}

// Arguments and the end of their message. A reply that was cut there has none.
Reading<bool> read_call(Source& in, Answer& out, const MessageMarks& marks) {
  co_await skip_blanks(in);
  const bool read = co_await read_json_arguments(in, out);
  if (!read) co_return false;
  const int c = co_await skip_blanks(in);
  if (c == Source::kEnd) co_return !in.cut();
  bool ended = co_await read_literal(in, marks.ends()[1]);
  if (!ended) ended = co_await read_literal(in, marks.ends()[0]);
  co_return ended;
}

Reading<bool> read_message(Source& in, Answer& out, const MessageMarks& marks, const Header& header) {
  TextSink text(out);
  ReasoningSink reasoning(out);
  if (!header.recipient.empty()) {
    std::string_view name = header.recipient;
    if (name.starts_with(kFunctions)) name.remove_prefix(kFunctions.size());
    bool read = out.name_call(name);
    if (read) read = co_await read_call(in, out, marks);
    if (read) {
      out.complete_call();
      co_return true;
    }
    out.give_up_call();
    co_return co_await read_text(in, text, marks, true);
  }
  in.mark({});
  if (header.channel == "analysis") {
    out.begin_reasoning();
    co_await read_text(in, reasoning, marks, false);
    out.end_reasoning();
    co_return true;
  }
  if (out.has_text()) out.text("\n\n");
  co_return co_await read_text(in, text, marks, false);
}

// What is no header, up to the next message.
Reading<bool> read_bare_text(Source& in, Answer& out, const MessageMarks& marks) {
  TextSink text(out);
  const int c = co_await in.peek();
  if (c == Source::kEnd && in.cut()) {
    // A recipient has begun a call, which is text like any that is cut. Other headers hold no text.
    if (in.taken().find("to=") != std::string::npos)
      out.give_up_call();
    else
      out.count(CallFault::kUnclosed);
    co_return true;
  }
  out.release_call();
  co_return co_await read_text(in, text, marks, false);
}

Reading<bool> read_messages(ReplyContext& context) {
  Source& in = context.in;
  Answer& out = context.out;
  const MessageMarks marks(context);
  TextSink text(out);
  // A prompt that does not end with a message's start is gone on with.
  if (context.tail.find("<|start|>") == std::string::npos) co_await read_text(in, text, marks, false);
  for (;;) {
    const int c = co_await in.peek();
    if (c == Source::kEnd) co_return true;
    out.begin_call({});
    Header header;
    const bool read = co_await read_header(in, marks, header);
    if (read)
      co_await read_message(in, out, marks, header);
    else
      co_await read_bare_text(in, out, marks);
  }
}

}  // namespace

Reading<bool> read_harmony(ReplyContext& context) {
  return read_messages(context);
}

}  // namespace tempo9::chat
