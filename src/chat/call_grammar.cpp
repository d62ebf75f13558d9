#include "chat/call_grammar.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "chat/answer_form.h"
#include "chat/call_arguments.h"
#include "chat/call_channels.h"
#include "chat/parsers/styles.h"

namespace tempo9::chat {
namespace {

using grammar::Form;
using Forms = std::vector<Form>;

constexpr size_t kLeastMark = 4;

// Whether every call of it must have a form, not only those that are demanded.
bool is_held(const Tool& tool) {
  return tool.strict || !tool.format.is_null();
}

class Calls {
 public:
  Calls(const CallStyle& style, std::span<const Tool> tools, const CallDemands& demands)
      : style_(style), tools_(tools), demands_(demands) {}

  // All calls of a reply, without `begun`, which is written already and part of what opens them.
  Result<Form> all(std::string_view begun = "") const {
    TRY_ASSIGN(Form call, any(""));
    Forms parts = {markup(style_.form.open.substr(begun.size())), call};
    if (demands_.several && !style_.form.one_call)
      parts.push_back(grammar::repeat_form(
          grammar::sequence_form({markup(style_.form.between), std::move(call)}), 0, -1));
    parts.push_back(markup(style_.form.close));
    return grammar::sequence_form(std::move(parts));
  }

  // Whether calls stand anywhere in a text, behind what is not likely to be in it by chance.
  bool are_marked() const { return !style_.form.leads && beginning().size() >= kLeastMark; }
  // Text with calls in it: behind what begins one, it must be one.
  Result<Form> among_text() const {
    const std::string begin = beginning();
    TRY_ASSIGN(Form call, style_.form.open.empty() ? any(begin) : all(begin));
    Form form{Form::Kind::kDispatch};
    form.words = {begin};
    form.parts = {std::move(call)};
    form.most = demands_.several ? -1 : 1;
    return form;
  }

  // Calls and nothing else, or a text that does not begin like one.
  Result<Form> or_text() const {
    TRY_ASSIGN(Form calls, all());
    Form text{Form::Kind::kFreeText}, other{Form::Kind::kOtherText};
    for (const std::string_view marker : style_.markers) text.words.emplace_back(marker);
    other.text = style_.form.open.empty() ? style_.form.before_name.substr(0, 1) : style_.form.open;
    if (style_.form.arguments == ArgumentSyntax::kJson)
      other.words = {"\"name\"", "\"arguments\"", "\"parameters\"", "\"id\"", "\"type\""};
    else
      for (const Tool& tool : tools_) other.words.push_back(tool.name + std::string(style_.form.after_name));
    other.parts = {std::move(text)};
    Form mark = grammar::repeat_form(markup(style_.markers.front()), 0, 1);
    return grammar::choice_form(
        {grammar::sequence_form({std::move(mark), std::move(calls)}), std::move(other)});
  }

 private:
  Form markup(std::string_view text) const { return call_markup(style_, text); }

  // What no other text of a reply begins with.
  std::string beginning() const {
    const std::string text(style_.form.open.empty() ? style_.form.before_name : style_.form.open);
    for (const std::string_view marker : style_.markers)
      if (text.starts_with(marker)) return std::string(marker);
    return text;
  }

  // One call of any tool that may be called, without `begun`, which is written already.
  Result<Form> any(const std::string& begun) const {
    Forms calls;
    for (const Tool& tool : tools_) {
      if (demands_.only != nullptr && demands_.only != &tool) continue;
      TRY_ASSIGN(Form form, argument_form(style_, tool));
      const std::string head =
          fmt::format("{}{}{}", style_.form.before_name, tool.name, style_.form.after_name);
      calls.push_back(grammar::sequence_form(
          {markup(std::string_view(head).substr(begun.size())), std::move(form), markup(style_.form.end)}));
    }
    return grammar::choice_form(std::move(calls));
  }

  const CallStyle& style_;
  std::span<const Tool> tools_;
  const CallDemands& demands_;
};

}  // namespace

Result<std::optional<Form>> call_form(const ReplyStart& start, std::span<const Tool> tools,
                                      const CallDemands& demands, std::optional<Form> answer) {
  const bool channels = start.style != nullptr && start.style->always;
  // Who is not known to call tools has no call that a free-form tool's grammar could hold for.
  const bool held = std::ranges::any_of(
      tools, [&](const Tool& tool) { return tool.strict || (start.style != nullptr && is_held(tool)); });
  const bool one = !tools.empty() && !demands.several && start.style != nullptr &&
                   !start.style->form.one_call && Calls(*start.style, tools, demands).are_marked();
  if (!demands.required && !held && !one) {
    if (!answer) return std::nullopt;
    if (channels) return channel_reply(start, tools, demands, false, std::move(answer));
    return answer_form(start, *std::move(answer));
  }
  if (start.style == nullptr)
    return fail(ErrorCode::kUnsupported,
                "it is not known how this model calls tools, so it cannot be held to it");
  if (channels) return channel_reply(start, tools, demands, true, std::move(answer));
  const Calls calls(*start.style, tools, demands);
  if (!demands.required && !answer && !start.style->form.leads) {
    TRY_ASSIGN(Form form, calls.among_text());
    return form;
  }
  TRY_ASSIGN(Form form, demands.required || answer ? calls.all() : calls.or_text());
  if (!demands.required && answer) form = grammar::choice_form({std::move(form), *std::move(answer)});
  return answer_form(start, std::move(form));
}

}  // namespace tempo9::chat
