#include "chat/reply_parser.h"

#include "chat/parsers/answer.h"
#include "chat/parsers/context.h"
#include "chat/parsers/source.h"
#include "chat/parsers/styles.h"

namespace tempo9::chat {

std::vector<std::string_view> list_markers(const ReplyStart& start) {
  std::vector<std::string_view> markers;
  if (start.style != nullptr) markers.assign(start.style->markers.begin(), start.style->markers.end());
  if (start.tags == nullptr) return markers;
  markers.push_back(start.tags->open_token.empty() ? start.tags->open : start.tags->open_token);
  markers.push_back(start.tags->close);
  return markers;
}

std::vector<std::string_view> list_header_markers(const ReplyStart& start) {
  if (start.style == nullptr) return {};
  return {start.style->headers.begin(), start.style->headers.end()};
}

// Thinking between tags is split off first; the style's reader sees the rest.
class ReplyParser::Parts {
 public:
  Parts(const ReplyStart& start, std::span<const Tool> tools, std::span<const std::string_view> controls)
      : answer_(source_, tools, start.style == nullptr ? 0 : start.style->gap.size()),
        context_{source_, answer_, {controls.begin(), controls.end()}, start.tail} {
    if (start.tags != nullptr) {
      open_ = context_.spell(start.tags->open);
      close_ = context_.spell(start.tags->close);
      tags_ = {open_, close_};
      splitter_ = ReasoningSplitter({.tags = &tags_, .inside = start.inside});
    }
    reads_ = start.style != nullptr && (start.style->always || !tools.empty());
    if (reads_) source_.run(start.style->read(context_));
  }

  std::vector<ReplyPiece> push(std::string_view text) {
    add(splitter_.push(text));
    return answer_.take();
  }

  std::vector<ReplyPiece> finish(bool cut) {
    add(splitter_.finish());
    if (reads_) source_.finish(cut);
    answer_.finish();
    return answer_.take();
  }

  bool thinking() const { return splitter_.thinking() || answer_.thinking(); }
  const CallFaults& faults() const { return answer_.faults(); }

 private:
  void add(const ReasoningSplitter::Piece& piece) {
    answer_.reasoning(piece.reasoning);
    if (reads_)
      source_.feed(piece.text);
    else
      answer_.pass(piece.text);
  }

  Source source_;  // its reader refers to all below, but does not run any more once they go
  Answer answer_;
  ReplyContext context_;
  std::string open_, close_;
  ThinkingTags tags_;
  ReasoningSplitter splitter_;
  bool reads_ = false;
};

ReplyParser::ReplyParser(const ReplyStart& start, std::span<const Tool> tools,
                         std::span<const std::string_view> controls)
    : parts_(std::make_unique<Parts>(start, tools, controls)) {}
ReplyParser::ReplyParser(ReplyParser&&) noexcept = default;
ReplyParser::~ReplyParser() = default;

std::vector<ReplyPiece> ReplyParser::push(std::string_view text) {
  return parts_->push(text);
}

std::vector<ReplyPiece> ReplyParser::push_control(std::string_view marker) {
  return parts_->push(std::string(1, kControlSign).append(marker));
}

std::vector<ReplyPiece> ReplyParser::finish(bool cut) {
  return parts_->finish(cut);
}

bool ReplyParser::thinking() const {
  return parts_->thinking();
}

const CallFaults& ReplyParser::faults() const {
  return parts_->faults();
}

}  // namespace tempo9::chat
