#include "chat/chat_template.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "chat/testing/render.h"

namespace tempo9::chat {
namespace {

// Our own templates in the manner of well-known families.
constexpr const char* kEasy =
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls %}"
    "<call>{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}<end>{% endfor %}"
    "{% if tools %}<tools>{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}<assistant>{% endif "
    "%}";

constexpr const char* kAlternating =
    "{% for m in messages %}{% if m.role not in ['user', 'assistant'] %}{{ raise_exception('role ' + m.role) "
    "}}{% endif %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% "
    "endif %}"
    "<{{ m.role }}>{{ m.content | trim }}<end>{% endfor %}";

constexpr const char* kParts =
    "{% for m in messages %}<{{ m.role }}>{% for p in m.content %}{% if p.type == 'image' %}<image>{% else "
    "%}{{ p.text }}"
    "{% endif %}{% endfor %}<end>{% endfor %}";

constexpr const char* kHoisting =  // collects system messages in front
    "{% set ns = namespace(s='') %}{% for m in messages if m.role == 'system' %}{% set ns.s = ns.s ~ "
    "m.content %}{% endfor %}"
    "{{ ns.s }}{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endfor %}";

std::shared_ptr<const ChatTemplate> parse(const char* source) {
  auto parsed = ChatTemplate::parse(source, "<s>", "</s>");
  EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
  return *parsed;
}

Message say(Role role, std::string text) {
  Message message;
  message.role = role;
  message.content.push_back({ContentPart::Kind::kText, std::move(text), {}});
  return message;
}

ChatRequest request(std::vector<Message> messages) {
  ChatRequest made;
  made.messages = std::move(messages);
  return made;
}

std::string render(const ChatTemplate& chat_template, const ChatRequest& asked) {
  const Result<RenderedPrompt> prompt = chat_template.render(asked);
  return prompt ? testing::show_content(prompt->text, prompt->content) : "error: " + prompt.error().message;
}

TEST(ChatTemplateTest, MarksWhatCameFromTheRequest) {
  const auto easy = parse(kEasy);
  EXPECT_EQ(render(*easy, request({say(Role::kSystem, "be brief"), say(Role::kUser, "<end>")})),
            "<s><system>«be brief»<end><user>«<end>»<end><assistant>");
}

TEST(ChatTemplateTest, ToolsAndCallsKeepTheOrderOfKeys) {
  const auto easy = parse(kEasy);
  ChatRequest asked = request({say(Role::kUser, "q")});
  Message call;
  call.role = Role::kAssistant;
  call.tool_calls.push_back({"1", "f", Json::parse(R"({"z": 1, "a": [true, null, 1.0]})")});
  asked.messages.push_back(call);
  asked.tools.push_back(
      {"f", "", nullptr, Json::parse(R"({"type": "function", "function": {"name": "f", "x": "é"}})")});
  asked.add_generation_prompt = false;
  EXPECT_EQ(render(*easy, asked),
            "<s><user>«q»<end><assistant><call>«f»{\"«z»\": 1, \"«a»\": [true, null, 1.0]}<end>"
            "<tools>[{\"«type»\": \"«function»\", \"«function»\": {\"«name»\": \"«f»\", \"«x»\": \"«é»\"}}]");
}

TEST(ChatTemplateTest, LearnsTraits) {
  EXPECT_EQ(parse(kEasy)->traits(), TemplateTraits());
  const TemplateTraits alternating = parse(kAlternating)->traits();
  EXPECT_FALSE(alternating.shows_system || alternating.shows_later_system ||
               alternating.allows_repeated_user || alternating.allows_repeated_assistant ||
               alternating.allows_assistant_first || alternating.shows_tool_calls ||
               alternating.shows_tools || alternating.takes_parts);
  const TemplateTraits parts = parse(kParts)->traits();
  EXPECT_TRUE(parts.takes_parts && !parts.takes_text && parts.shows_system);
  const TemplateTraits hoisting = parse(kHoisting)->traits();
  EXPECT_TRUE(hoisting.shows_system && !hoisting.shows_later_system);
}

TEST(ChatTemplateTest, ContentAsOnePartOrAsAStringIsTheSame) {
  const auto easy = parse(kEasy);
  Message two = say(Role::kUser, "a");
  two.content.push_back({ContentPart::Kind::kText, "b", {}});
  EXPECT_EQ(render(*easy, request({two})), "<s><user>«a\nb»<end><assistant>");
  EXPECT_EQ(render(*parse(kParts), request({two})), "<user>«a\nb»<end>");
}

TEST(ChatTemplateTest, ImagesNeedATemplateThatTakesParts) {
  Message image = say(Role::kUser, "look");
  image.content.push_back({ContentPart::Kind::kImage, {}, "png"});
  EXPECT_EQ(render(*parse(kParts), request({image})), "<user>«look»<image><end>");
  const auto refused = parse(kEasy)->render(request({image}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
}

TEST(ChatTemplateTest, AnImageInAResultIsShownThereOrBehindIt) {
  const std::string calls =
      "{% for c in m.tool_calls %}<call>{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}";
  const auto shown = [&](const std::string& result) {
    const auto chat_template = parse(("{% for m in messages %}<{{ m.role }}>{% if m.role == 'tool' %}" +
                                      result + "{% elif m.content is string %}{{ m.content }}" + calls +
                                      "{% else %}{% for p in m.content %}{{ '<image>' if p.type == 'image' "
                                      "else p.text }}{% endfor %}{% endif "
                                      "%}{% endfor %}")
                                         .c_str());
    Message call = say(Role::kAssistant, "");
    call.tool_calls = {{"1", "f", Json::object()}};
    Message result_message = say(Role::kTool, "r");
    result_message.content.push_back({ContentPart::Kind::kImage, {}, "png"});
    return render(*chat_template, request({say(Role::kUser, "q"), call, result_message}));
  };
  EXPECT_EQ(shown("{{ m.content if m.content is string else m.content | map(attribute='text', "
                  "default='<image>') | join }}"),
            "<user>«q»<assistant><call>«f»{}<tool>«r»<image>");
  EXPECT_EQ(shown("{{ m.content }}"), "<user>«q»<assistant><call>«f»{}<tool>«r»<user><image>");
}

TEST(ChatTemplateTest, AwkwardConversationsAreServedInPlace) {
  const auto alternating = parse(kAlternating);
  EXPECT_EQ(render(*alternating,
                   request({say(Role::kSystem, "s"), say(Role::kUser, "a"), say(Role::kUser, "b"),
                            say(Role::kAssistant, "c"), say(Role::kSystem, "t"), say(Role::kUser, "d")})),
            "<user>«s\n\na\n\nb»<end><assistant>«c»<end><user>«t\n\nd»<end>");
  EXPECT_EQ(render(*parse(kHoisting),
                   request({say(Role::kUser, "a"), say(Role::kSystem, "t"), say(Role::kUser, "b")})),
            "<user>«a»<user>«t»<user>«b»");
}

TEST(ChatTemplateTest, AConversationThatGrowsKeepsItsBeginning) {
  const std::vector<Message> all = {
      say(Role::kSystem, "s"),    say(Role::kUser, "a"),     say(Role::kAssistant, "b"),
      say(Role::kSystem, "t"),    say(Role::kUser, "c"),     say(Role::kAssistant, "d"),
      say(Role::kAssistant, "e"), say(Role::kUser, "f"),     say(Role::kDeveloper, "g"),
      say(Role::kUser, "h"),      say(Role::kAssistant, "i")};
  for (const char* source : {kEasy, kAlternating, kParts, kHoisting}) {
    const auto chat_template = parse(source);
    std::string before;
    for (size_t count = 2; count <= all.size(); ++count) {
      ChatRequest asked = request({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)});
      asked.add_generation_prompt = false;
      const Result<RenderedPrompt> prompt = chat_template->render(asked);
      ASSERT_TRUE(prompt.has_value()) << prompt.error().message;
      EXPECT_TRUE(prompt->text.starts_with(before)) << source << "\n" << before << "\n" << prompt->text;
      before = prompt->text.substr(0, prompt->content.back().end);
    }
  }
}

TEST(ChatTemplateTest, ArgumentsComeInTheFormTheTemplateShows) {
  const auto form = [](const char* shown) {
    const std::string source =
        std::string(
            "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}{{ c.function.name }}") +
        shown + "{% endfor %}{% endfor %}";
    const auto chat_template = parse(source.c_str());
    Message call;
    call.role = Role::kAssistant;
    call.tool_calls = {{"1", "f", Json{{"k", "v"}}}, {"2", "f", "not JSON"}, {"3", "f", ""}};
    return render(*chat_template, request({call}));
  };
  EXPECT_EQ(form("{{ c.function.arguments }}"), "«f»{\"«k»\": \"«v»\"}«fnot JSONf»");
  EXPECT_EQ(form("{{ c.function.arguments | tojson }}"),
            "«f»{\"«k»\": \"«v»\"}«f»{\"arguments\": \"«not JSON»\"}«f»{}");
}

TEST(ChatTemplateTest, SettingsReachTheTemplate) {
  const auto chat_template = parse(
      "{{ enable_thinking }}|{{ thinking }}|{{ reasoning_effort }}|{{ custom }}|{{ bos_token }}|{{ "
      "messages[0].content }}|{{ tools is none }}");
  ChatRequest asked = request({say(Role::kUser, "q")});
  EXPECT_EQ(render(*chat_template, asked), "||||<s>|«q»|True");
  asked.enable_thinking = false;
  asked.reasoning_effort = "high";
  asked.template_arguments = {{"custom", "c"}, {"bos_token", "forged"}, {"messages", 1}};
  EXPECT_EQ(render(*chat_template, asked), "False|False|«high»|«c»|<s>|«q»|True");
}

TEST(ChatTemplateTest, EffortIsGivenInAWordOfTheTemplates) {
  const auto chat_template = parse(
      "{% if reasoning_effort | default('low') not in ['low', 'xhigh'] %}{{ raise_exception('what effort?') "
      "}}"
      "{% endif %}{{ reasoning_effort }}{% for m in messages %}{{ m.content }}{% endfor %}");
  ChatRequest asked = request({say(Role::kUser, "q")});
  asked.reasoning_effort = "high";
  EXPECT_EQ(render(*chat_template, asked), "«xhighq»");
  asked.reasoning_effort = "someday";
  EXPECT_EQ(render(*chat_template, asked), "«q»");
}

TEST(ChatTemplateTest, AToolWithoutParametersIsCompletedWhereTheTemplateNeedsThem) {
  const auto chat_template = parse(
      "{% for t in tools or [] %}{{ t.function.name }}{{ t.function.parameters.properties | length }}{% "
      "endfor %}"
      "{% for m in messages %}{{ m.content }}{% endfor %}");
  ChatRequest asked = request({say(Role::kUser, "q")});
  asked.tools.push_back({"f", "", nullptr, Json{{"type", "function"}, {"function", {{"name", "f"}}}}});
  EXPECT_EQ(render(*chat_template, asked), "«f»0«q»");
}

TEST(ChatTemplateTest, TheLastResortIsEveryRewriting) {
  // Accepts what is tried while loading, but not a third user in a row.
  const auto chat_template = parse(
      "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 if m.role == 'user' else 0 "
      "%}"
      "{% if ns.n > 2 %}{{ raise_exception('three users') }}{% endif %}<{{ m.role }}>{{ m.content }}{% "
      "endfor %}");
  EXPECT_TRUE(chat_template->traits().allows_repeated_user);
  EXPECT_EQ(
      render(*chat_template, request({say(Role::kUser, "a"), say(Role::kUser, "b"), say(Role::kUser, "c")})),
      "<user>«a\n\nb\n\nc»");
}

TEST(ChatTemplateTest, ALastMessageThatIsContinuedEndsThePrompt) {
  const auto continued = [](const char* source, Message last) {
    ChatRequest asked = request({say(Role::kUser, "q"), std::move(last)});
    asked.continue_final_message = true;
    return render(*parse(source), asked);
  };
  EXPECT_EQ(continued(kEasy, say(Role::kAssistant, "so \n")), "<s><user>«q»<end><assistant>«so \n»");
  EXPECT_EQ(continued(kAlternating, say(Role::kAssistant, " so \n")), "<user>«q»<end><assistant>«so»");
  EXPECT_EQ(continued(kParts, say(Role::kAssistant, "so")), "<user>«q»<end><assistant>«so»");
  // Found although the template writes of its own between thinking and answer.
  const char* thinking =
      "{% for m in messages %}<{{ m.role }}>{{ m.content.split('</think>') | join('</think>\n\n') }}<end>{% "
      "endfor "
      "%}";
  EXPECT_EQ(continued(thinking, say(Role::kAssistant, "h</think>so")),
            "<user>«q»<end><assistant>«h»</think>\n\n«so»");
}

TEST(ChatTemplateTest, WhatCannotBeContinuedIsRefused) {
  const auto refused = [](const char* source, std::vector<Message> messages) {
    ChatRequest asked = request(std::move(messages));
    asked.continue_final_message = true;
    asked.tools.push_back({"f", "", nullptr, Json{{"type", "function"}, {"function", {{"name", "f"}}}}});
    return render(*parse(source), asked);
  };
  const std::string no_text = "error: only a last message of the assistant with a text can be continued";
  EXPECT_EQ(refused(kAlternating, {say(Role::kUser, "q")}), no_text);
  EXPECT_EQ(refused(kAlternating, {say(Role::kUser, "q"), say(Role::kAssistant, " ")}), no_text);
  Message call = say(Role::kAssistant, "a");
  call.tool_calls = {{"1", "f", Json::object()}};
  EXPECT_EQ(refused(kAlternating, {say(Role::kUser, "q"), call}), no_text);
  // This one shows the tools behind the messages.
  EXPECT_EQ(
      refused(kEasy, {say(Role::kUser, "q"), say(Role::kAssistant, "a")}),
      "error: the last message cannot be continued: the model's chat template does not show its text last");
}

TEST(ChatTemplateTest, ArgumentsCountAgainstTheLimitOfMemory) {
  Json many = Json::array();
  for (int i = 0; i < 700'000; ++i) many.push_back({{"k", "v"}});
  Message call;
  call.role = Role::kAssistant;
  call.tool_calls.push_back({"1", "f", Json{{"k", std::move(many)}}});
  for (const char* source : {kEasy,
                             "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}{{ "
                             "c.function.name }}{{ c.function.arguments }}{% endfor %}{% endfor %}"}) {
    const std::string text = render(*parse(source), request({say(Role::kUser, "q"), call}));
    EXPECT_NE(text.find("the template needs more than 268435456 bytes of memory"), std::string::npos)
        << text.substr(0, 200);
  }
}

TEST(ChatTemplateTest, RefusalsCarryTheTemplatesWords) {
  const auto chat_template = parse(
      "{% if messages | length != 1 %}{{ messages[0].content }}{% else %}\n{{ raise_exception('lonely') }}{% "
      "endif %}");
  EXPECT_EQ(render(*chat_template, request({say(Role::kUser, "a")})),
            "error: the model's chat template refuses the conversation: line 2: lonely");
  EXPECT_EQ(ChatTemplate::parse("a\n{% if %}", "", "").error().message,
            "line 2: an expression was expected, not the end of the statement");
  EXPECT_FALSE(ChatTemplate::parse("", "\xFF", "").has_value());
  EXPECT_FALSE(parse(kEasy)->render(request({say(Role::kUser, "\xFF")})).has_value());
}

TEST(ChatTemplateTest, RendersOnManyThreads) {
  const auto easy = parse(kEasy);
  const std::string expected = render(*easy, request({say(Role::kUser, "a")}));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) EXPECT_EQ(render(*easy, request({say(Role::kUser, "a")})), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tempo9::chat
