#include "server/api/prompts.h"

namespace tempo9::server {
namespace {

using Ids = std::vector<TokenId>;

ApiResult<Ids> prepare_chat(const Service& service, const chat::ChatRequest& request) {
  const auto chat_template = service.chat_template();
  if (!chat_template) return api_failure(chat_template.error());
  const auto rendered = (*chat_template)->render(request);
  if (!rendered) return api_failure(rendered.error(), "messages");
  std::vector<text::Range> content;  // a user's words must not forge a turn's end
  for (const chat::ContentRange& range : rendered->content) content.push_back({range.begin, range.end});
  auto ids =
      service.engine().prepare(rendered->text, {text::SpecialTokens::Recognise::kOutsideContent, content});
  if (!ids) return api_failure(ids.error(), "messages");
  return *std::move(ids);
}

ApiResult<Ids> prepare_text(const Service& service, const TextPrompt& prompt) {
  if (const auto* given = std::get_if<Ids>(&prompt)) return *given;
  auto ids = service.engine().prepare(std::get<std::string>(prompt), {});
  if (!ids) return api_failure(ids.error(), "prompt");
  return *std::move(ids);
}

ApiResult<Ids> check_length(const Service& service, ApiResult<Ids> ids, const char* param) {
  if (!ids) return ids;
  const int context = service.engine().info().context_length;
  if (ids->empty()) return api_failure({ErrorCode::kInvalidArgument, "the prompt is empty"}, param);
  if (ids->size() < static_cast<size_t>(context)) return ids;
  const int tokens = static_cast<int>(ids->size());
  return tl::unexpected<ApiError>(
      ApiError{ErrorCode::kTooLong,
               fmt::format("the prompt of {} tokens leaves no room in the context of {}", tokens, context),
               param, tokens, context});
}

}  // namespace

ApiResult<std::vector<Ids>> make_prompts(const Service& service, const ApiRequest& request) {
  std::vector<Ids> prompts;
  const auto add = [&](ApiResult<Ids> ids) {
    if (ids) prompts.push_back(*std::move(ids));
    return ids ? std::nullopt : std::optional(std::move(ids).error());
  };
  if (const auto* conversation = std::get_if<chat::ChatRequest>(&request.input)) {
    if (auto error = add(check_length(service, prepare_chat(service, *conversation), "messages")))
      return tl::unexpected<ApiError>(*std::move(error));
    return prompts;
  }
  for (const TextPrompt& text : std::get<std::vector<TextPrompt>>(request.input))
    if (auto error = add(check_length(service, prepare_text(service, text), "prompt")))
      return tl::unexpected<ApiError>(*std::move(error));
  return prompts;
}

}  // namespace tempo9::server
