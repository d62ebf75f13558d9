#include "chat/chat_template.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "chat/jinja/engine.h"
#include "chat/jinja/unicode.h"
#include "chat/probe.h"
#include "chat/rewriting.h"

namespace tempo9::chat {
namespace {

constexpr size_t kMaxTailBytes = 4096;  // more than any template puts behind a message

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Whether `text` ends with `end`, white space left aside: templates trim, and put line breaks of their own
// between thinking and answer.
bool ends_like(std::string_view text, std::string_view end) {
  for (;;) {
    while (!end.empty() && is_space(end.back())) end.remove_suffix(1);
    if (end.empty()) return true;
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    if (text.empty() || text.back() != end.back()) return false;
    text.remove_suffix(1);
    end.remove_suffix(1);
  }
}

// Takes away what the template has put behind the last message.
Status cut_behind(RenderedPrompt& prompt, const Message& last) {
  const bool has_text = !last.content.empty() && last.content.back().kind == ContentPart::Kind::kText &&
                        !std::ranges::all_of(last.content.back().text, is_space);
  if (last.role != Role::kAssistant || !last.tool_calls.empty() || !has_text)
    return fail(ErrorCode::kInvalidArgument,
                "only a last message of the assistant with a text can be continued");
  const size_t end = prompt.content.empty() ? 0 : prompt.content.back().end;
  if (!ends_like(std::string_view(prompt.text).substr(0, end), last.content.back().text))
    return fail(
        ErrorCode::kInvalidArgument,
        "the last message cannot be continued: the model's chat template does not show its text last");
  prompt.text.resize(end);
  return {};
}

class JinjaTemplate : public ChatTemplate {
 public:
  JinjaTemplate(jinja::Template parsed, SpecialTexts special, const ThinkingTags* thinking_tags)
      : parsed_(std::move(parsed)),
        special_(std::move(special)),
        thinking_tags_(thinking_tags),
        traits_(probe_traits(parsed_, special_)),
        call_style_(probe_call_style(parsed_, special_, traits_)),
        last_resort_(most_restrictive(traits_)) {}

  const TemplateTraits& traits() const override { return traits_; }
  const ThinkingTags* thinking_tags() const override { return thinking_tags_; }
  bool shows_thinking() const override {
    return thinking_tags_ != nullptr || (call_style_ != nullptr && call_style_->always);
  }
  const CallStyle* call_style() const override { return call_style_; }

  Result<RenderedPrompt> render(const ChatRequest& request) const override {
    Result<RenderedPrompt> rendered = render_with(request, traits_);
    if (rendered || last_resort_ == traits_) return rendered;
    Result<RenderedPrompt> again = render_with(request, last_resort_);
    return again ? std::move(again) : std::move(rendered);
  }

 private:
  Result<RenderedPrompt> render_with(const ChatRequest& request, const TemplateTraits& traits) const {
    const std::vector<Message> messages = rewrite(request.messages, traits);
    Result<jinja::Text> text =
        render_messages(parsed_, request, messages, traits, special_, limits::kMaxTemplateSteps);
    if (!text) {
      return fail(text.error().code, "the model's chat template refuses the conversation: {}",
                  text.error().message);
    }
    RenderedPrompt prompt{text->bytes(), {}, {}};
    prompt.content.reserve(text->marks().size());
    for (const auto& [begin, end] : text->marks()) prompt.content.push_back({begin, end});
    if (request.continue_final_message && !request.messages.empty())
      TRY(cut_behind(prompt, request.messages.back()));
    const size_t begin = prompt.content.empty() ? 0 : prompt.content.back().end;
    const std::string_view tail = std::string_view(prompt.text).substr(begin);
    prompt.reply = find_reply_start(thinking_tags_, tail);
    prompt.reply.style = call_style_;
    prompt.reply.tail = tail.substr(tail.size() - std::min(tail.size(), kMaxTailBytes));
    return prompt;
  }

  const jinja::Template parsed_;
  const SpecialTexts special_;
  const ThinkingTags* const thinking_tags_;
  const TemplateTraits traits_;
  const CallStyle* const call_style_;
  const TemplateTraits last_resort_;
};

}  // namespace

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::parse(std::string source, std::string begin_text,
                                                                std::string end_text) {
  for (const std::string* special : {&begin_text, &end_text}) {
    if (!jinja::unicode::is_valid(*special)) {
      return fail(ErrorCode::kInvalidArgument, "the text of a special token is not valid UTF-8");
    }
  }
  const ThinkingTags* tags = find_thinking_tags(source);
  TRY_ASSIGN(jinja::Template parsed, jinja::Template::parse(source));
  return std::make_shared<const JinjaTemplate>(
      std::move(parsed), SpecialTexts{std::move(begin_text), std::move(end_text)}, tags);
}

}  // namespace tempo9::chat
