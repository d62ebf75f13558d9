// What a model writes, while it comes, to thinking, answer and tool calls.
//
// What a model gets wrong is part of the answer's text, exactly as it was written, and counted: a call of a
// tool that nobody has declared, one that is malformed or never ends, one that is quoted. Where no tools are
// declared, nothing is a call. Threads: one at a time.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/call_delta.h"
#include "chat/chat_request.h"
#include "chat/reasoning.h"

namespace tempo9::chat {

// A part of a reply. Its members follow each other in this order.
struct ReplyPiece {
  std::string reasoning, text;
  std::vector<CallDelta> calls;
};

// Why something that looks like a call is text.
enum class CallFault { kUndeclared, kMalformed, kUnclosed, kQuoted };
inline constexpr std::array<std::string_view, 4> kCallFaultNames = {"undeclared", "malformed", "unclosed",
                                                                    "quoted"};
using CallFaults = std::array<int, kCallFaultNames.size()>;  // how many of each

// Tokens of a vocabulary that mean something in a reply that begins so. Where one of them is a control token,
// whose text is not shown otherwise, the parser wants to hear of it, and the same words as plain text are
// text.
std::vector<std::string_view> list_markers(const ReplyStart& start);

// Those of them behind which no text of the reply stands, up to the next.
std::vector<std::string_view> list_header_markers(const ReplyStart& start);

class ReplyParser {
 public:
  // `controls`: those of list_markers() that are control tokens of the model. `tools`: those that the reply
  // may call; they must outlive the parser.
  ReplyParser(const ReplyStart& start, std::span<const Tool> tools,
              std::span<const std::string_view> controls = {});
  ReplyParser(ReplyParser&&) noexcept;
  ~ReplyParser();

  // More text; valid UTF-8. What the pieces of all calls hold, joined, depends on the text alone, not on how
  // it was cut. Pieces hold whole characters if the texts do.
  std::vector<ReplyPiece> push(std::string_view text);
  // One of `controls` behind it.
  std::vector<ReplyPiece> push_control(std::string_view marker);
  // The end. `cut`: a limit or a stop string ended the reply, not the model.
  std::vector<ReplyPiece> finish(bool cut);

  bool thinking() const;
  const CallFaults& faults() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tempo9::chat
