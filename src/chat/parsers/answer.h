// What a parser writes: the pieces of a reply, and one call at a time. Threads: one at a time.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/parsers/sink.h"
#include "chat/parsers/source.h"
#include "chat/reply_parser.h"

namespace tempo9::chat {

// A call begins with begin_call(): what is read from there on is its text. Then come its name and, in any
// order with it, its arguments: a JSON object without the brace that closes it, which complete_call() adds,
// so what was never completed is no JSON.
class Answer : public Sink {
 public:
  // `gap`: see CallStyle. All must outlive this.
  Answer(Source& source, std::span<const Tool> tools, size_t gap)
      : source_(source), tools_(tools), gap_(gap) {}

  void reasoning(std::string_view text);
  // Around one of several stretches of thinking.
  void begin_reasoning();
  void end_reasoning() { thinking_ = false; }
  bool thinking() const { return thinking_; }
  // White space that only sets calls apart from text and from each other is dropped.
  void text(std::string_view text);
  // Text that nobody looks into.
  void pass(std::string_view text) { write(text); }
  bool has_text() const { return in_text_; }

  // `opening`: what of the call has been read.
  void begin_call(std::string_view opening) { source_.mark(opening); }
  // False, for good, if there is no such tool.
  bool name_call(std::string_view name);
  bool has_name() const { return tool_ != nullptr || undeclared_; }
  const Tool* tool() const { return tool_; }      // of the call; null until it has a name that is declared
  void put(std::string_view arguments) override;  // of the call
  bool complete_call();  // false: it was given up after all, for want of a declared name
  // It is wrong, or nobody could have taken it for a call: its text is the answer's.
  void give_up_call();
  void release_call();
  void count(CallFault fault);

  void finish();
  std::vector<ReplyPiece> take() { return std::exchange(pieces_, {}); }
  const CallFaults& faults() const { return faults_; }
  bool has_tools() const { return !tools_.empty(); }

 private:
  void write(std::string_view text);
  CallDelta& delta();
  void end_call();

  Source& source_;
  std::span<const Tool> tools_;
  size_t gap_;
  std::vector<ReplyPiece> pieces_;
  CallFaults faults_{};
  bool thinking_ = false, has_thought_ = false;
  std::string blank_;     // white space held back
  bool in_text_ = false;  // there is text since the beginning or the last call
  bool called_ = false;   // a call is complete
  int calls_ = 0;         // given an index
  const Tool* tool_ = nullptr;
  bool undeclared_ = false;
  std::string waiting_;  // arguments that came before the name
};

class TextSink final : public Sink {
 public:
  explicit TextSink(Answer& out) : out_(out) {}
  void put(std::string_view text) override { out_.text(text); }

 private:
  Answer& out_;
};

class ReasoningSink final : public Sink {
 public:
  explicit ReasoningSink(Answer& out) : out_(out) {}
  void put(std::string_view text) override { out_.reasoning(text); }

 private:
  Answer& out_;
};

}  // namespace tempo9::chat
