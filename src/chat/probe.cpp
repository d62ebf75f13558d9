#include "chat/probe.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "chat/reasoning_effort.h"

namespace tempo9::chat {
namespace {

// Words that stand in no template.
constexpr const char* kSystem = "tempo-probe-system";
constexpr const char* kLaterSystem = "tempo-probe-later-system";
constexpr const char* kUser = "tempo-probe-user";
constexpr const char* kSecondUser = "tempo-probe-second-user";
constexpr const char* kReply = "tempo-probe-reply";
constexpr const char* kSecondReply = "tempo-probe-second-reply";
constexpr const char* kResult = "tempo-probe-result";
constexpr const char* kSecondResult = "tempo-probe-second-result";
constexpr const char* kFunction = "tempo_probe_function";
constexpr const char* kKey = "tempo_probe_key";
constexpr const char* kValue = "tempo-probe-value";
constexpr const char* kShortId = "probe0001";
constexpr const char* kSecondShortId = "probe0002";

Message make_message(Role role, const char* text) {
  Message message;
  message.role = role;
  if (*text != '\0') message.content.push_back({ContentPart::Kind::kText, text, {}});
  return message;
}

Message make_call(const char* id, const char* text = "") {
  Message message = make_message(Role::kAssistant, text);
  message.tool_calls.push_back({id, kFunction, Json{{kKey, kValue}}});
  return message;
}

Message make_result(const char* id, const char* text = kResult) {
  Message message = make_message(Role::kTool, text);
  message.tool_call_id = id;
  message.tool_name = kFunction;
  return message;
}

Tool make_tool() {
  Tool tool;
  tool.name = kFunction;
  tool.description = "A function.";
  tool.parameters = {{"type", "object"}, {"properties", {{kKey, {{"type", "string"}}}}}};
  tool.declaration = {
      {"type", "function"},
      {"function",
       {{"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}}}};
  return tool;
}

using Messages = std::vector<Message>;
using Words = std::initializer_list<std::string_view>;

class Prober {
 public:
  Prober(const jinja::Template& parsed, const SpecialTexts& special) : parsed_(parsed), special_(special) {}

  const CallStyle* find_style(const TemplateTraits& traits) const {
    if (!traits.shows_tool_calls) return nullptr;
    const Result<jinja::Text> shown =
        render({make_message(Role::kUser, kUser), make_call(kShortId), make_result(kShortId)}, traits, true);
    return shown ? find_call_style(shown->view(), kFunction) : nullptr;
  }

  TemplateTraits run() {
    probe_content();
    probe_roles();
    probe_tools();
    probe_efforts();
    return traits_;
  }

 private:
  Result<jinja::Text> render(const Messages& messages, const TemplateTraits& traits, bool tools) const {
    ChatRequest request;
    if (tools) request.tools.push_back(make_tool());
    return render_messages(parsed_, request, messages, traits, special_, limits::kMaxTemplateProbeSteps);
  }

  bool takes_bare_tools(const Messages& messages) const {
    ChatRequest request;
    Tool tool;
    tool.declaration = {{"type", "function"}, {"function", {{"name", kFunction}}}};
    request.tools.push_back(std::move(tool));
    return render_messages(parsed_, request, messages, traits_, special_, limits::kMaxTemplateProbeSteps)
        .has_value();
  }

  // Whether the template accepts the messages and shows all words, in this order.
  bool shows(const Messages& messages, Words words, bool tools = false) const {
    const Result<jinja::Text> text = render(messages, traits_, tools);
    return text && contains(text->view(), words);
  }

  static bool contains(std::string_view text, Words words) {
    size_t at = 0;
    for (const std::string_view word : words) {
      const size_t found = text.find(word, at);
      if (found == text.npos) return false;
      at = found + word.size();
    }
    return true;
  }

  void probe_content() {
    const Messages messages = {make_message(Role::kUser, kUser)};
    if (!render(messages, traits_, false)) {
      TemplateTraits as_list = traits_;
      as_list.takes_none_as_tools = false;
      traits_.takes_none_as_tools = !render(messages, as_list, false).has_value();
    }
    TemplateTraits as_parts = traits_;
    as_parts.takes_text = false;
    const Result<jinja::Text> parts = render(messages, as_parts, false);
    // A template that does not know parts prints the list as Python would.
    traits_.takes_parts = parts && contains(parts->view(), {kUser}) && !contains(parts->view(), {"'text'"});
    traits_.takes_text = shows(messages, {kUser}) || !traits_.takes_parts;
  }

  void probe_roles() {
    const Message system = make_message(Role::kSystem, kSystem);
    const Message later_system = make_message(Role::kSystem, kLaterSystem);
    const Message user = make_message(Role::kUser, kUser);
    const Message second_user = make_message(Role::kUser, kSecondUser);
    const Message reply = make_message(Role::kAssistant, kReply);
    const Message second_reply = make_message(Role::kAssistant, kSecondReply);
    traits_.shows_system = shows({system, user}, {kSystem, kUser}) &&
                           shows({system, user, reply, second_user}, {kSystem, kUser, kReply, kSecondUser});
    const Words in_place = {kUser, kReply, kLaterSystem, kSecondUser};
    traits_.shows_later_system =
        shows({user, reply, later_system, second_user}, in_place) &&
        (!traits_.shows_system || shows({system, user, reply, later_system, second_user}, in_place));
    traits_.allows_repeated_user = shows({user, second_user}, {kUser, kSecondUser});
    traits_.allows_repeated_assistant =
        shows({user, reply, second_reply, second_user}, {kUser, kReply, kSecondReply, kSecondUser});
    traits_.allows_assistant_first = shows({reply, user}, {kReply, kUser});
  }

  void probe_tools() {
    const Message user = make_message(Role::kUser, kUser);
    const Message second_user = make_message(Role::kUser, kSecondUser);
    const Message call = make_call(kShortId);
    const Message result = make_result(kShortId);
    traits_.shows_tools = shows({user}, {kFunction}, true);
    traits_.takes_tools = render({user}, traits_, true).has_value() || !render({user}, traits_, false);
    traits_.takes_bare_tools = !traits_.shows_tools || takes_bare_tools({user});
    probe_arguments({user, call, result});
    if (!traits_.shows_tool_calls) return;

    Message both = call;
    both.tool_calls.push_back(both.tool_calls[0]);
    both.tool_calls[1].id = kSecondShortId;
    traits_.allows_parallel_calls = shows({user, both, result, make_result(kSecondShortId, kSecondResult)},
                                          {kFunction, kFunction, kResult, kSecondResult}, true);
    traits_.allows_user_after_tool =
        shows({user, call, result, second_user}, {kUser, kResult, kSecondUser}, true);
    traits_.allows_bridge_after_tool =
        shows({user, call, result, make_message(Role::kAssistant, ""), second_user},
              {kUser, kResult, kSecondUser}, true);
    Message thoughtful = make_call(kShortId, kReply);
    const bool text_taken = shows({user, thoughtful, result}, {kResult}, true);
    traits_.shows_text_beside_call =
        !text_taken || shows({user, thoughtful, result}, {kReply, kResult}, true);
    thoughtful.reasoning = kSecondReply;
    traits_.allows_reasoning_beside_call = !text_taken || shows({user, thoughtful, result}, {kResult}, true);
    traits_.shows_images_in_results = !traits_.takes_parts || shows_image_in_result({user, call, result});
    const char* const long_id = "call_tempo_probe_1";
    traits_.takes_any_call_id = shows({user, make_call(long_id), make_result(long_id)}, {kResult}, true);
  }

  // Whether an image in the last message leaves a trace, and not only its part as Python or JSON writes it.
  bool shows_image_in_result(Messages messages) const {
    const Result<jinja::Text> without = render(messages, traits_, true);
    messages.back().content.push_back({ContentPart::Kind::kImage, {}, {}});
    const Result<jinja::Text> with = render(messages, traits_, true);
    return with && without && contains(with->view(), {kResult}) && with->view() != without->view() &&
           !contains(with->view(), {"'image'"}) && !contains(with->view(), {"\"image\""});
  }

  // Which form of a call's arguments comes out as JSON (or as the template's own notation), not as Python's.
  void probe_arguments(const Messages& messages) {
    const Words shown = {kFunction, kValue, kResult};
    TemplateTraits as_text = traits_;
    as_text.arguments = TemplateTraits::Arguments::kText;
    const Result<jinja::Text> object = render(messages, traits_, true);
    const Result<jinja::Text> text = render(messages, as_text, true);
    const std::string python = std::string("'") + kKey + "': ";
    const std::string json_in_json = std::string("\\\"") + kKey + "\\\"";
    const bool object_shown = object && contains(object->view(), shown);
    const bool text_shown = text && contains(text->view(), shown);
    const bool object_right = object_shown && !contains(object->view(), {python});
    const bool text_right = text_shown && !contains(text->view(), {json_in_json});
    traits_.shows_tool_calls = object_shown || text_shown;
    if (!object_right && text_shown && (text_right || !object_shown))
      traits_.arguments = TemplateTraits::Arguments::kText;
  }

  // A template that refuses a word nobody knows has a list of its own.
  void probe_efforts() {
    const auto takes = [&](std::string_view word) {
      ChatRequest request;
      request.template_arguments["reasoning_effort"] = word;  // as it is
      return render_messages(parsed_, request, {make_message(Role::kUser, kUser)}, traits_, special_,
                             limits::kMaxTemplateProbeSteps)
          .has_value();
    };
    if (takes("tempo-probe-effort")) return;
    for (const std::string_view word : kEfforts)
      if (takes(word)) traits_.efforts.emplace_back(word);
  }

  const jinja::Template& parsed_;
  const SpecialTexts& special_;
  TemplateTraits traits_;
};

}  // namespace

Result<jinja::Text> render_messages(const jinja::Template& parsed, const ChatRequest& request,
                                    const std::vector<Message>& messages, const TemplateTraits& traits,
                                    const SpecialTexts& special, size_t max_steps) {
  jinja::Runtime runtime(max_steps);
  TRY_ASSIGN(const jinja::Value variables, template_variables(runtime, request, messages, traits, special));
  return parsed.render(runtime, variables);
}

const CallStyle* probe_call_style(const jinja::Template& parsed, const SpecialTexts& special,
                                  const TemplateTraits& traits) {
  return Prober(parsed, special).find_style(traits);
}

TemplateTraits probe_traits(const jinja::Template& parsed, const SpecialTexts& special) {
  return Prober(parsed, special).run();
}

}  // namespace tempo9::chat
