#include "question.h"

namespace tempo9::apps {
namespace {

chat::Message message(chat::Role role, const std::string& text) {
  chat::Message m;
  m.role = role;
  m.content.push_back({chat::ContentPart::Kind::kText, text, {}});
  return m;
}

}  // namespace

Result<chat::RenderedPrompt> render_question(const engine::ModelInfo& info, const std::string& system,
                                             const std::string& question,
                                             std::optional<bool> enable_thinking) {
  if (info.chat_template.empty())
    return fail(ErrorCode::kInvalidArgument,
                "the model has no chat template; --raw continues the text as it is");
  TRY_ASSIGN(const auto chat_template,
             chat::ChatTemplate::parse(info.chat_template, info.begin_text, info.end_text));
  chat::ChatRequest request;
  request.enable_thinking = enable_thinking;
  if (!system.empty()) request.messages.push_back(message(chat::Role::kSystem, system));
  request.messages.push_back(message(chat::Role::kUser, question));
  return chat_template->render(request);
}

text::SpecialTokens outside_content(const chat::RenderedPrompt& prompt, std::vector<text::Range>& ranges) {
  ranges.clear();
  for (const auto& range : prompt.content) ranges.push_back({range.begin, range.end});
  return {text::SpecialTokens::Recognise::kOutsideContent, ranges};
}

}  // namespace tempo9::apps
