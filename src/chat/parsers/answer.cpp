#include "chat/parsers/answer.h"

#include <algorithm>
#include <utility>

#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

void append_shown(std::string& to, std::string_view text) {
  for (const char c : text)
    if (c != kControlSign) to += c;
}

}  // namespace

void Answer::reasoning(std::string_view text) {
  if (text.empty()) return;
  if (pieces_.empty() || !pieces_.back().text.empty() || !pieces_.back().calls.empty())
    pieces_.emplace_back();
  append_shown(pieces_.back().reasoning, text);
  has_thought_ = true;
}

void Answer::begin_reasoning() {
  if (has_thought_) reasoning("\n\n");
  thinking_ = true;
}

void Answer::write(std::string_view text) {
  if (text.empty()) return;
  if (pieces_.empty() || !pieces_.back().calls.empty()) pieces_.emplace_back();
  append_shown(pieces_.back().text, text);
}

void Answer::text(std::string_view text) {
  for (const char c : text) {
    if (!in_text_ && is_blank(c)) {
      blank_ += c;
    } else if (in_text_ && c == '\n' && gap_ > 0) {
      blank_ += c;
      if (blank_.size() <= gap_) continue;
      write(std::string_view(blank_).substr(0, 1));
      blank_.erase(0, 1);
    } else {
      write(std::exchange(blank_, {}));
      write({&c, 1});
      in_text_ = true;
    }
  }
}

CallDelta& Answer::delta() {
  if (pieces_.empty()) pieces_.emplace_back();
  auto& calls = pieces_.back().calls;
  const int index = calls_ - 1;
  if (calls.empty() || calls.back().index != index) calls.emplace_back().index = index;
  return calls.back();
}

bool Answer::name_call(std::string_view name) {
  const auto tool = std::ranges::find(tools_, name, &Tool::name);
  undeclared_ = tool == tools_.end();
  if (undeclared_) return false;
  tool_ = &*tool;
  ++calls_;
  delta().name = name;
  put(std::exchange(waiting_, {}));
  return true;
}

void Answer::put(std::string_view arguments) {
  if (undeclared_) return;
  if (tool_ == nullptr)
    waiting_ += arguments;
  else if (!arguments.empty())
    append_shown(delta().arguments, arguments);
}

bool Answer::complete_call() {
  if (tool_ == nullptr) {
    give_up_call();
    return false;
  }
  CallDelta& last = delta();
  last.arguments += '}';
  last.finished = true;
  end_call();
  blank_.clear();
  in_text_ = false;
  called_ = true;
  return true;
}

// Where there are no tools, nothing is a call, and nothing a wrong one.
void Answer::count(CallFault fault) {
  if (has_tools()) ++faults_[static_cast<size_t>(fault)];
}

void Answer::give_up_call() {
  const CallFault fault = source_.starved() ? CallFault::kUnclosed : CallFault::kMalformed;
  count(undeclared_ ? CallFault::kUndeclared : fault);
  release_call();
}

void Answer::release_call() {
  if (tool_ != nullptr) delta().withdrawn = true;
  end_call();
  text(source_.taken());
  source_.mark({});
}

void Answer::end_call() {
  tool_ = nullptr;
  undeclared_ = false;
  waiting_.clear();
}

void Answer::finish() {
  if (in_text_ || !called_) write(blank_);
  blank_.clear();
}

}  // namespace tempo9::chat
