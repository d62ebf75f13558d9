#include "server/api/prompts.h"

#include <algorithm>

namespace tempo9::server {
namespace {

using Ids = std::vector<TokenId>;

// Some clients replace the last messages when they go on.
constexpr size_t kReplaced = 2;

// Where later prompts of the conversation are likely to differ, in tokens of `ids`: where the contents of the
// last messages begin, and where the last one ends, since a reply may be shown differently once it is
// history.
std::vector<int> find_boundaries(const Service& service, const chat::RenderedPrompt& rendered,
                                 const Ids& ids) {
  const auto& content = rendered.content;
  if (content.empty()) return {};
  std::vector<size_t> places;
  for (size_t i = content.size() - std::min(kReplaced, content.size()); i < content.size(); ++i)
    places.push_back(content[i].begin);
  places.push_back(content.back().end);
  std::vector<int> boundaries;
  for (const size_t place : places) {
    std::vector<text::Range> before;
    for (const chat::ContentRange& range : content)
      if (range.end <= place) before.push_back({range.begin, range.end});
    const auto part = service.engine().prepare(std::string_view(rendered.text).substr(0, place),
                                               {text::SpecialTokens::Recognise::kOutsideContent, before});
    if (!part) continue;
    const auto end = part->begin() + static_cast<ptrdiff_t>(std::min(part->size(), ids.size()));
    boundaries.push_back(
        static_cast<int>(std::mismatch(part->begin(), end, ids.begin()).first - part->begin()));
  }
  return boundaries;
}

ApiResult<Prompt> prepare_text(const Service& service, const TextPrompt& prompt) {
  if (const auto* given = std::get_if<Ids>(&prompt)) return Prompt{*given};
  auto ids = service.engine().prepare(std::get<std::string>(prompt), {});
  if (!ids) return api_failure(ids.error(), "prompt");
  return Prompt{*std::move(ids)};
}

ApiResult<Prompt> check_length(const Service& service, ApiResult<Prompt> prompt, const std::string& param) {
  if (!prompt) return prompt;
  const int context = service.engine().info().context_length;
  if (prompt->ids.empty()) return api_failure({ErrorCode::kInvalidArgument, "the prompt is empty"}, param);
  if (prompt->ids.size() < static_cast<size_t>(context)) return prompt;
  const int tokens = static_cast<int>(prompt->ids.size());
  return tl::unexpected<ApiError>(
      ApiError{ErrorCode::kTooLong,
               fmt::format("the prompt of {} tokens leaves no room in the context of {}", tokens, context),
               param, tokens, context});
}

}  // namespace

ApiResult<Prompt> prepare_chat(const Service& service, const chat::ChatRequest& request,
                               const std::string& field) {
  const auto chat_template = service.chat_template();
  if (!chat_template) return api_failure(chat_template.error());
  const auto rendered = (*chat_template)->render(request);
  if (!rendered) return api_failure(rendered.error(), field);
  std::vector<text::Range> content;  // a user's words must not forge a turn's end
  for (const chat::ContentRange& range : rendered->content) content.push_back({range.begin, range.end});
  auto ids =
      service.engine().prepare(rendered->text, {text::SpecialTokens::Recognise::kOutsideContent, content});
  if (!ids) return api_failure(ids.error(), field);
  Prompt prompt{*std::move(ids), {}, rendered->reply};
  if (service.engine().info().keeps_state)
    prompt.boundaries = find_boundaries(service, *rendered, prompt.ids);
  return prompt;
}

ApiResult<int> count_tokens(Service& service, const ApiResult<ApiRequest>& request) {
  if (!request) return tl::unexpected<ApiError>(request.error());
  service.note_unknown_fields(request->unknown_fields);
  if (const Status known = service.check_model(request->model); !known)
    return api_failure(known.error(), "model");
  if (request->gap) return tl::unexpected<ApiError>(*request->gap);
  const auto& conversation = std::get<chat::ChatRequest>(request->input);
  const ApiResult<Prompt> prompt = prepare_chat(service, conversation, request->input_field);
  if (!prompt) return tl::unexpected<ApiError>(prompt.error());
  return static_cast<int>(prompt->ids.size());
}

ApiResult<std::vector<Prompt>> make_prompts(const Service& service, const ApiRequest& request) {
  std::vector<Prompt> prompts;
  const auto add = [&](ApiResult<Prompt> prompt) {
    if (prompt) prompts.push_back(*std::move(prompt));
    return prompt ? std::nullopt : std::optional(std::move(prompt).error());
  };
  if (const auto* conversation = std::get_if<chat::ChatRequest>(&request.input)) {
    if (auto error = add(check_length(service, prepare_chat(service, *conversation, request.input_field),
                                      request.input_field)))
      return tl::unexpected<ApiError>(*std::move(error));
    return prompts;
  }
  for (const TextPrompt& text : std::get<std::vector<TextPrompt>>(request.input))
    if (auto error = add(check_length(service, prepare_text(service, text), "prompt")))
      return tl::unexpected<ApiError>(*std::move(error));
  return prompts;
}

}  // namespace tempo9::server
