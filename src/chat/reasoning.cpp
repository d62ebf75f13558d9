#include "chat/reasoning.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tempo9::chat {
namespace {

constexpr std::array kTags = {
    ThinkingTags{"<think>", "</think>"},
    ThinkingTags{"<thinking>", "</thinking>"},
    ThinkingTags{"[THINK]", "[/THINK]"},
    ThinkingTags{"<|channel>thought", "<channel|>", "<|channel>"},
};
constexpr std::string_view kBlank = " \t\r\n";

// Bytes at the end of `text` that may be the beginning of `tag`.
size_t partial_tag(std::string_view text, std::string_view tag) {
  size_t length = std::min(text.size(), tag.size() - 1);
  while (length > 0 && !text.ends_with(tag.substr(0, length))) --length;
  return length;
}

size_t without_trailing_breaks(std::string_view text) {
  return text.find_last_not_of('\n') + 1;  // npos + 1 is 0
}

}  // namespace

const ThinkingTags* find_thinking_tags(std::string_view template_source) {
  const auto known = [&](const ThinkingTags& tags) {
    return template_source.find(tags.close) != tags.close.npos;
  };
  const auto found = std::ranges::find_if(kTags, known);
  return found == kTags.end() ? nullptr : &*found;
}

ReplyStart find_reply_start(const ThinkingTags* tags, std::string_view tail) {
  if (tags == nullptr) return {};
  const size_t opened = tail.rfind(tags->open), closed = tail.rfind(tags->close);
  if (opened != tail.npos && (closed == tail.npos || closed < opened)) return {.tags = tags, .inside = true};
  return {.tags = closed == tail.npos ? tags : nullptr};
}

ReasoningSplitter::ReasoningSplitter(const ReplyStart& start) {
  if (start.tags == nullptr) return;
  tags_ = *start.tags;
  state_ = start.inside ? State::kThinking : State::kUndecided;
}

// Whether the reply's first word is the opening tag.
void ReasoningSplitter::decide(Piece& piece) {
  const size_t begin = std::min(held_.find_first_not_of(kBlank), held_.size());
  const std::string_view word = std::string_view(held_).substr(begin);
  if (word.size() < tags_.open.size() && tags_.open.starts_with(word)) return;
  if (!word.starts_with(tags_.open)) {
    state_ = State::kText;
    piece.text += std::exchange(held_, {});
    return;
  }
  held_.erase(0, begin + tags_.open.size());
  state_ = State::kThinking;
}

void ReasoningSplitter::think(Piece& piece) {
  if (!begun_) held_.erase(0, std::min(held_.find_first_not_of('\n'), held_.size()));
  const size_t end = held_.find(tags_.close);
  const size_t known = end == held_.npos ? held_.size() - partial_tag(held_, tags_.close) : end;
  const size_t count = without_trailing_breaks(std::string_view(held_).substr(0, known));
  piece.reasoning.append(held_, 0, count);
  begun_ = begun_ || count > 0;
  if (end == held_.npos) {
    held_.erase(0, count);
    return;
  }
  held_.erase(0, end + tags_.close.size());
  state_ = State::kBehind;
}

ReasoningSplitter::Piece ReasoningSplitter::push(std::string_view text) {
  Piece piece;
  if (state_ == State::kText) {
    piece.text = text;
    return piece;
  }
  held_ += text;
  if (state_ == State::kUndecided) decide(piece);
  if (state_ == State::kThinking) think(piece);
  if (state_ == State::kBehind) {
    held_.erase(0, std::min(held_.find_first_not_of('\n'), held_.size()));
    if (!held_.empty()) {
      state_ = State::kText;
      piece.text += std::exchange(held_, {});
    }
  }
  return piece;
}

ReasoningSplitter::Piece ReasoningSplitter::finish() {
  Piece piece;
  (state_ == State::kThinking ? piece.reasoning : piece.text) = std::exchange(held_, {});
  return piece;
}

}  // namespace tempo9::chat
