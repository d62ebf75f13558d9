#include "chat/call_channels.h"

#include <string>
#include <utility>
#include <vector>

#include "chat/call_arguments.h"

namespace tempo9::chat {
namespace {

using grammar::choice_form;
using grammar::Form;
using grammar::repeat_form;
using grammar::sequence_form;
using grammar::text_form;
using Forms = std::vector<Form>;

class Channels {
 public:
  explicit Channels(const CallStyle& style) : style_(style) {}

  // One message on any of the channels.
  Form message(const std::vector<std::string>& channels) const {
    Form text{Form::Kind::kFreeText};
    text.words = {style_.markers.begin(), style_.markers.end()};
    return sequence_form({markup("<|channel|>"), words(channels), markup("<|message|>"), std::move(text)});
  }
  // From one message to the next.
  Form next() const { return markup("<|end|><|start|>assistant"); }
  // Any number of them in front of the last.
  Form before(const std::vector<std::string>& channels) const {
    return repeat_form(sequence_form({message(channels), next()}), 0, -1);
  }
  Form answer(Form form) const {
    return sequence_form({markup("<|channel|>final<|message|>"), std::move(form)});
  }

  Result<Form> call(std::span<const Tool> tools, const Tool* only) const {
    Forms calls;
    for (const Tool& tool : tools) {
      if (only != nullptr && only != &tool) continue;
      TRY_ASSIGN(Form arguments, argument_form(style_, tool));
      // The recipient stands behind the role, as templates show it, or behind the channel, as models write.
      const std::string to = " to=functions." + tool.name;
      Form channel = words({"commentary", "analysis"});
      Forms heads = {sequence_form({markup(to + "<|channel|>"), channel}),
                     sequence_form({markup("<|channel|>"), channel, text_form(to)})};
      Forms types = {text_form(""), text_form(" json"), markup(" <|constrain|>json"),
                     markup("<|constrain|>json")};
      calls.push_back(sequence_form({choice_form(std::move(heads)), choice_form(std::move(types)),
                                     markup("<|message|>"), std::move(arguments)}));
    }
    return choice_form(std::move(calls));
  }

 private:
  Form markup(std::string_view text) const { return call_markup(style_, text); }
  static Form words(const std::vector<std::string>& texts) {
    Forms forms;
    for (const std::string& text : texts) forms.push_back(text_form(text));
    return choice_form(std::move(forms));
  }

  const CallStyle& style_;
};

}  // namespace

Result<Form> channel_reply(const ReplyStart& start, std::span<const Tool> tools, const CallDemands& demands,
                           bool may_call, std::optional<Form> answer) {
  const Channels channels(*start.style);
  const std::vector<std::string> thinking = {"analysis"}, all = {"analysis", "commentary", "final"};
  if (!may_call) {
    Form answers = sequence_form({channels.before(thinking), channels.answer(*answer)});
    return choice_form({std::move(answers), *std::move(answer)});
  }
  TRY_ASSIGN(Form call, channels.call(tools, demands.only));
  if (demands.required) return sequence_form({channels.before(thinking), std::move(call)});
  if (answer)
    return sequence_form(
        {channels.before(thinking), choice_form({std::move(call), channels.answer(*std::move(answer))})});
  return sequence_form({channels.before(all), choice_form({std::move(call), channels.message(all)})});
}

}  // namespace tempo9::chat
