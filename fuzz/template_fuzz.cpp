// Any bytes as a chat template: parsing and rendering end with a text or a refusal, within few steps; marks
// lie within the text in order; a second rendering is equal to the first. What renders is then a model's
// template for a conversation.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.h"
#include "chat/chat_template.h"
#include "chat/jinja/engine.h"
#include "chat/jinja/from_json.h"
#include "chat/jinja/unicode.h"

namespace {

using namespace tempo9;
using chat::jinja::Mark;
using chat::jinja::Text;

constexpr size_t kMaxSteps = 20'000;

// What the seeds read.
const nlohmann::ordered_json& variables() {
  static const auto json = nlohmann::ordered_json::parse(R"({
    "text": "Hello World", "padded": "  a-b c\n d\t ", "accents": "é漢字ß👩‍👩‍👧x", "empty": "", "nothing": null,
    "seven": 7, "minus": -3, "half": 2.5, "tenth": 0.1, "huge": 1e22, "big": 9223372036854775813, "yes": true,
    "numbers": [3, 1, 2], "words": ["b", "A", "c", "a", "b"], "pairs": [["k", 1], ["l", 2]],
    "users": [{"name": "Ann", "age": 31}, {"name": "bob", "age": 22}, {"name": "Cid"}],
    "tool": {"name": "f", "items": [1], "nested": {"deep": [{"x": "y"}]}, "none": null},
    "html": "<a href='x'>&\"</a>",
    "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"},
                 {"role": "assistant", "content": "A"}],
    "tree": [{"n": "a", "c": [{"n": "b", "c": []}, {"n": "c", "c": [{"n": "d", "c": []}]}]}]})");
  return json;
}

Result<Text> render(const chat::jinja::Template& parsed) {
  chat::jinja::Runtime runtime(kMaxSteps);
  TRY_ASSIGN(const chat::jinja::Value values, chat::jinja::from_json(runtime, variables()));
  return parsed.render(runtime, values);
}

void check_text(const Text& text) {
  CHECK(chat::jinja::unicode::is_valid(text.view()));
  size_t end = 0;
  bool first = true;
  for (const Mark& mark : text.marks()) {
    CHECK(mark.begin < mark.end && mark.end <= text.size());
    CHECK(first ? mark.begin >= end : mark.begin > end);
    end = mark.end;
    first = false;
  }
}

void render_conversation(std::string source) {
  const auto parsed = chat::ChatTemplate::parse(std::move(source), "<s>", "</s>");
  CHECK(parsed.has_value());
  chat::ChatRequest request;
  for (const chat::Role role : {chat::Role::kSystem, chat::Role::kUser, chat::Role::kAssistant,
                                chat::Role::kTool, chat::Role::kDeveloper, chat::Role::kUser}) {
    chat::Message& message = request.messages.emplace_back();
    message.role = role;
    message.content.push_back({chat::ContentPart::Kind::kText, "words", {}});
    if (role == chat::Role::kAssistant) message.tool_calls.push_back({"call", "f", {{"k", 1}}});
  }
  const auto prompt = (*parsed)->render(request);
  if (!prompt) return CHECK(!prompt.error().message.empty());
  CHECK(chat::jinja::unicode::is_valid(prompt->text));
  for (const chat::ContentRange& range : prompt->content)
    CHECK(range.begin < range.end && range.end <= prompt->text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto parsed = chat::jinja::Template::parse(source);
  if (!parsed) {
    CHECK(!parsed.error().message.empty());
    return 0;
  }
  const Result<Text> text = render(*parsed);
  if (!text) {
    CHECK(!text.error().message.empty());
    return 0;
  }
  check_text(*text);
  render_conversation(std::string(source));
  if (source.find("strftime_now") != source.npos) return 0;  // the second may have changed
  const Result<Text> again = render(*parsed);
  CHECK(again.has_value() && again->bytes() == text->bytes() && again->marks() == text->marks());
  return 0;
}
