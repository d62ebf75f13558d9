// Helpers of tests of what models write: tools, ways to cut a reply, and all that its pieces say put
// together.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "chat/parsers/styles.h"
#include "chat/reply_parser.h"

namespace tempo9::chat::testing {

inline Tool make_tool(std::string name, std::string_view properties) {
  Tool tool;
  tool.name = std::move(name);
  tool.parameters = {{"type", "object"}, {"properties", Json::parse(properties)}};
  return tool;
}

inline std::vector<Tool> make_tools() {
  return {make_tool("weather", R"({"city": {"type": "string"}, "days": {"type": "integer"},
                                   "metric": {"type": "boolean"}, "ratio": {"type": "number"},
                                   "tags": {"type": "array"}, "place": {"type": "object"},
                                   "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}})"),
          make_tool("create", R"({"path": {"type": "string"}, "content": {"type": "string"}})"),
          make_tool("stop", "{}")};
}

inline const CallStyle* style_named(std::string_view name) {
  const auto styles = call_styles();
  const auto found = std::ranges::find(styles, name, &CallStyle::name);
  return found == styles.end() ? nullptr : &*found;
}

// How many bytes the next piece has.
using Cuts = std::function<size_t()>;
inline Cuts cut_every(size_t bytes) {
  return [bytes] { return bytes; };
}
inline Cuts cut_once(size_t bytes) {
  return [bytes, first = true]() mutable { return std::exchange(first, false) ? bytes : std::string::npos; };
}

struct HeardItem {
  enum class Kind { kReasoning, kText, kCall } kind;
  std::string text;  // of a call: its name and its arguments
};

// A whole reply. `problem` says what no reply may be; empty if there is nothing.
class Heard {
 public:
  void add(const std::vector<ReplyPiece>& pieces) {
    for (const ReplyPiece& piece : pieces) {
      if (piece.reasoning.empty() && piece.text.empty() && piece.calls.empty()) problem_ = "an empty piece";
      append(HeardItem::Kind::kReasoning, piece.reasoning);
      append(HeardItem::Kind::kText, piece.text);
      for (const CallDelta& delta : piece.calls) add(delta);
    }
  }
  void finish() {
    if (open_) problem_ = "a call without an end";
  }

  const std::vector<HeardItem>& items() const { return items_; }
  const std::string& problem() const { return problem_; }
  std::string text(HeardItem::Kind kind) const {
    std::string all;
    for (const HeardItem& item : items_)
      if (item.kind == kind) all += item.text;
    return all;
  }
  int calls() const {
    return static_cast<int>(std::ranges::count(items_, HeardItem::Kind::kCall, &HeardItem::kind));
  }
  // R[thinking]T[text]C[name{"arguments": …}]
  std::string show() const {
    std::string shown;
    for (const HeardItem& item : items_)
      (((shown += "RTC"[static_cast<int>(item.kind)]) += '[') += item.text) += ']';
    return shown;
  }

 private:
  void append(HeardItem::Kind kind, const std::string& text) {
    if (text.empty()) return;
    if (open_) problem_ = "text within a call";
    if (items_.empty() || items_.back().kind != kind || kind == HeardItem::Kind::kCall)
      items_.push_back({kind, {}});
    items_.back().text += text;
  }
  void add(const CallDelta& delta) {
    if (!open_) {
      if (delta.name.empty() || delta.index != next_index_++) problem_ = "a call begins wrongly";
      open_ = true;
      name_ = delta.name;
    } else if (!delta.name.empty() || delta.index != next_index_ - 1) {
      problem_ = "a call goes on wrongly";
    }
    arguments_ += delta.arguments;
    if (!delta.finished && !delta.withdrawn) return;
    open_ = false;
    const Json parsed = Json::parse(arguments_, nullptr, false);
    if (delta.withdrawn == delta.finished) problem_ = "a call has two ends";
    if (delta.withdrawn != parsed.is_discarded()) problem_ = "a call is JSON if and only if it is complete";
    if (delta.finished && !parsed.is_object()) problem_ = "arguments are no object";
    if (delta.finished) append(HeardItem::Kind::kCall, name_ + arguments_);
    arguments_.clear();
  }

  std::vector<HeardItem> items_;
  std::string problem_, name_, arguments_;
  int next_index_ = 0;
  bool open_ = false;
};

// Where the next of `controls` stands in `text`, which is npos if none does.
inline std::pair<size_t, std::string_view> find_control(std::string_view text,
                                                        const std::vector<std::string_view>& controls) {
  std::pair<size_t, std::string_view> first = {text.npos, {}};
  for (const std::string_view control : controls)
    if (const size_t at = text.find(control); at < first.first) first = {at, control};
  return first;
}

struct Listener {
  ReplyStart start;
  std::vector<Tool> tools = make_tools();
  std::vector<std::string_view> controls = {};
  bool cut = false;  // the reply did not come to its own end
  CallFaults faults = {};

  // Feeds `reply`, in which controls stand for themselves.
  Heard hear(std::string_view reply, Cuts cuts) {
    ReplyParser parser(start, tools, controls);
    Heard heard;
    while (!reply.empty()) {
      const auto [plain, control] = find_control(reply, controls);
      for (std::string_view text = reply.substr(0, plain); !text.empty();) {
        const std::string_view piece = text.substr(0, std::max<size_t>(cuts(), 1));
        heard.add(parser.push(piece));
        text.remove_prefix(piece.size());
      }
      reply.remove_prefix(std::min(plain, reply.size()));
      if (!control.empty()) heard.add(parser.push_control(control));
      reply.remove_prefix(control.size());
    }
    heard.add(parser.finish(cut));
    heard.finish();
    faults = parser.faults();
    return heard;
  }
};

}  // namespace tempo9::chat::testing
