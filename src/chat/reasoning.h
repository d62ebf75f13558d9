// Where thinking ends and the answer begins in what a model writes.
//
// Thinking stands between two tags in front of the answer. Either the template opens it at the prompt's end,
// or the reply's first word is the opening tag. The same words anywhere else are text: an answer may talk
// about them. Threads: one at a time.
#pragma once
#include <string>
#include <string_view>

namespace tempo9::chat {

struct CallStyle;

struct ThinkingTags {
  std::string_view open, close;
  std::string_view open_token = {};  // what of `open` is a token, if not all of it
};

// How a reply begins, which the prompt's end decides.
struct ReplyStart {
  const ThinkingTags* tags = nullptr;  // null: there is no thinking in it
  bool inside = false;                 // the prompt has opened the thinking already
  const CallStyle* style = nullptr;    // how the model writes calls; null: it writes none
  std::string tail = {};               // the end of the prompt that came from the template
};

// The tags that a template's source speaks of; null if it knows none. Never freed.
const ThinkingTags* find_thinking_tags(std::string_view template_source);

// `tail`: what the template has put behind the last message.
ReplyStart find_reply_start(const ThinkingTags* tags, std::string_view tail);

// Labels the text of one reply as it comes. The outcome depends on the text alone, not on how it was cut.
// Line breaks that only set the tags apart belong to neither side.
class ReasoningSplitter {
 public:
  ReasoningSplitter() = default;  // everything is text
  explicit ReasoningSplitter(const ReplyStart& start);

  struct Piece {
    std::string reasoning, text;
  };
  Piece push(std::string_view text);
  // Gives what was held back. A reply that ends while it thinks has no text.
  Piece finish();
  bool thinking() const { return state_ == State::kThinking; }

 private:
  enum class State { kUndecided, kThinking, kBehind, kText };
  void decide(Piece& piece);
  void think(Piece& piece);

  ThinkingTags tags_;
  State state_ = State::kText;
  bool begun_ = false;  // some of the thinking is out
  std::string held_;
};

}  // namespace tempo9::chat
