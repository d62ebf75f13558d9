#include "chat/rewriting.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace tempo9::chat {
namespace {

using Messages = std::vector<Message>;

bool has_text(const Message& message) {
  return std::ranges::any_of(message.content, [](const ContentPart& part) {
    return part.kind == ContentPart::Kind::kText && !part.text.empty();
  });
}

void append_text(Message& message, std::string_view separator, const std::string& text) {
  if (!message.content.empty() && message.content.back().kind == ContentPart::Kind::kText) {
    std::string& last = message.content.back().text;
    if (!last.empty()) last += separator;
    last += text;
  } else {
    message.content.push_back({ContentPart::Kind::kText, text, {}});
  }
}

// Appends `other` to `message`, with an empty line between their texts.
void merge(Message& message, Message&& other) {
  size_t first = 0;
  if (!other.content.empty() && other.content[0].kind == ContentPart::Kind::kText &&
      !message.content.empty()) {
    append_text(message, "\n\n", other.content[0].text);
    first = 1;
  }
  std::move(other.content.begin() + static_cast<std::ptrdiff_t>(first), other.content.end(),
            std::back_inserter(message.content));
  if (!message.reasoning.empty() && !other.reasoning.empty()) message.reasoning += "\n\n";
  message.reasoning += other.reasoning;
  std::ranges::move(other.tool_calls, std::back_inserter(message.tool_calls));
}

void name_roles(Messages& messages) {
  std::unordered_map<std::string, std::string> names;  // of functions, by call id
  for (Message& message : messages) {
    if (message.role == Role::kDeveloper) message.role = Role::kSystem;
    for (const ToolCall& call : message.tool_calls) names[call.id] = call.name;
    if (message.role != Role::kTool || !message.tool_name.empty()) continue;
    if (const auto name = names.find(message.tool_call_id); name != names.end())
      message.tool_name = name->second;
  }
}

void write_calls_as_text(Messages& messages) {
  for (Message& message : messages) {
    for (const ToolCall& call : message.tool_calls) {
      const Json line = {{"name", call.name}, {"arguments", call.arguments}};
      append_text(message, "\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    message.tool_calls.clear();
    if (message.role == Role::kTool) message.role = Role::kUser;
  }
}

// One turn for each call; the results that follow are put behind the call they answer.
void split_parallel_calls(Messages& messages) {
  Messages split;
  for (size_t i = 0; i < messages.size(); ++i) {
    Message& turn = messages[i];
    if (turn.tool_calls.size() < 2) {
      split.push_back(std::move(turn));
      continue;
    }
    size_t end = i + 1;
    while (end < messages.size() && messages[end].role == Role::kTool) ++end;
    std::vector<bool> placed(end - i, false);
    const std::vector<ToolCall> calls = std::move(turn.tool_calls);
    for (size_t c = 0; c < calls.size(); ++c) {
      Message part;
      part.role = Role::kAssistant;
      if (c == 0) {
        part.content = std::move(turn.content);
        part.reasoning = std::move(turn.reasoning);
      }
      part.tool_calls = {calls[c]};
      split.push_back(std::move(part));
      for (size_t r = i + 1; r < end; ++r) {
        const bool last_call = c + 1 == calls.size();  // takes what answers no call
        if (placed[r - i] || (!last_call && messages[r].tool_call_id != calls[c].id)) continue;
        placed[r - i] = true;
        split.push_back(std::move(messages[r]));
      }
    }
    i = end - 1;
  }
  messages = std::move(split);
}

void move_images_behind_results(Messages& messages) {
  Messages moved;
  Message images;
  for (size_t i = 0; i < messages.size(); ++i) {
    Message& message = messages[i];
    const bool last_result = i + 1 == messages.size() || messages[i + 1].role != Role::kTool;
    if (message.role == Role::kTool) {
      const auto is_text = [](const ContentPart& part) { return part.kind == ContentPart::Kind::kText; };
      const auto first = std::stable_partition(message.content.begin(), message.content.end(), is_text);
      std::move(first, message.content.end(), std::back_inserter(images.content));
      message.content.erase(first, message.content.end());
    }
    moved.push_back(std::move(message));
    if (last_result && !images.content.empty()) moved.push_back(std::exchange(images, {}));
  }
  messages = std::move(moved);
}

void turn_system_into_user(Messages& messages, const TemplateTraits& traits) {
  for (size_t i = 0; i < messages.size(); ++i) {
    const bool shown = i == 0 ? traits.shows_system : traits.shows_later_system;
    if (messages[i].role == Role::kSystem && !shown) messages[i].role = Role::kUser;
  }
}

void join_reasoning(Messages& messages) {
  for (Message& message : messages) {
    if (message.tool_calls.empty() || message.reasoning.empty() || !has_text(message)) continue;
    for (const ContentPart& part : message.content) {
      if (part.kind == ContentPart::Kind::kText && !part.text.empty())
        message.reasoning += "\n\n" + part.text;
    }
    message.content.clear();
  }
}

void split_text_from_calls(Messages& messages) {
  Messages split;
  for (Message& message : messages) {
    if (!message.tool_calls.empty() && has_text(message)) {
      Message text;
      text.role = Role::kAssistant;
      text.content = std::exchange(message.content, {});
      split.push_back(std::move(text));
    }
    split.push_back(std::move(message));
  }
  messages = std::move(split);
}

void merge_neighbours(Messages& messages, const TemplateTraits& traits) {
  Messages merged;
  for (Message& message : messages) {
    const bool refused = (message.role == Role::kUser && !traits.allows_repeated_user) ||
                         (message.role == Role::kAssistant && !traits.allows_repeated_assistant);
    // A turn that has called a tool waits for the result; what follows is no part of it.
    const bool mergeable =
        refused && !merged.empty() && merged.back().role == message.role && merged.back().tool_calls.empty();
    if (mergeable) {
      merge(merged.back(), std::move(message));
    } else {
      merged.push_back(std::move(message));
    }
  }
  messages = std::move(merged);
}

void place_user_after_tool(Messages& messages, bool bridge) {
  Messages placed;
  for (Message& message : messages) {
    if (message.role == Role::kUser && !placed.empty() && placed.back().role == Role::kTool) {
      if (!bridge) {
        merge(placed.back(), std::move(message));
        continue;
      }
      Message empty;
      empty.role = Role::kAssistant;
      placed.push_back(std::move(empty));
    }
    placed.push_back(std::move(message));
  }
  messages = std::move(placed);
}

void begin_with_user(Messages& messages) {
  const auto first = std::ranges::find_if(messages, [](const Message& m) { return m.role != Role::kSystem; });
  if (first == messages.end() || first->role != Role::kAssistant) return;
  messages.insert(first, Message());
}

bool is_short_id(std::string_view id) {
  return id.size() == 9 && std::ranges::all_of(id, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

std::string shorten_id(std::string_view id) {
  if (is_short_id(id)) return std::string(id);
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string text;
  for (int i = 0; i < 9; ++i, hash /= 62) {
    text += "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[hash % 62];
  }
  return text;
}

void shorten_ids(Messages& messages) {
  for (Message& message : messages) {
    if (message.role == Role::kTool) message.tool_call_id = shorten_id(message.tool_call_id);
    for (ToolCall& call : message.tool_calls) call.id = shorten_id(call.id);
  }
}

}  // namespace

std::vector<Message> rewrite(std::vector<Message> messages, const TemplateTraits& traits) {
  name_roles(messages);
  if (!traits.shows_tool_calls) write_calls_as_text(messages);
  if (!traits.allows_parallel_calls) split_parallel_calls(messages);
  if (!traits.shows_images_in_results) move_images_behind_results(messages);
  turn_system_into_user(messages, traits);
  if (!traits.allows_reasoning_beside_call) join_reasoning(messages);
  // Merging would bring the two together again.
  if (!traits.shows_text_beside_call && traits.allows_repeated_assistant) split_text_from_calls(messages);
  merge_neighbours(messages, traits);
  if (!traits.allows_user_after_tool) {
    place_user_after_tool(messages, traits.allows_bridge_after_tool);
    merge_neighbours(messages, traits);  // an appended text may have brought two assistant turns together
  }
  if (!traits.allows_assistant_first) begin_with_user(messages);
  if (!traits.takes_any_call_id) shorten_ids(messages);
  return messages;
}

}  // namespace tempo9::chat
