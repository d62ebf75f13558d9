#include "chat/rewriting.h"

#include <gtest/gtest.h>

namespace tempo9::chat {
namespace {

Message say(Role role, std::string text) {
  Message message;
  message.role = role;
  if (!text.empty()) message.content.push_back({ContentPart::Kind::kText, std::move(text), {}});
  return message;
}
Message system(std::string text) {
  return say(Role::kSystem, std::move(text));
}
Message user(std::string text) {
  return say(Role::kUser, std::move(text));
}
Message assistant(std::string text) {
  return say(Role::kAssistant, std::move(text));
}
Message calls(std::vector<std::string> ids, std::string text = "") {
  Message message = assistant(std::move(text));
  for (std::string& id : ids) message.tool_calls.push_back({id, "f_" + id, Json{{"k", 1}}});
  return message;
}
Message result(std::string id, std::string text) {
  Message message = say(Role::kTool, std::move(text));
  message.tool_call_id = std::move(id);
  return message;
}

// One line a message: role, texts, calls, ids.
std::string show(const std::vector<Message>& messages) {
  static constexpr const char* kRoles[] = {"system", "developer", "user", "assistant", "tool"};
  std::string shown;
  for (const Message& message : messages) {
    shown += kRoles[static_cast<int>(message.role)];
    for (const ContentPart& part : message.content) shown += " '" + part.text + "'";
    if (!message.reasoning.empty()) shown += " reasoning '" + message.reasoning + "'";
    for (const ToolCall& call : message.tool_calls) shown += " call " + call.id;
    if (!message.tool_call_id.empty()) shown += " for " + message.tool_call_id;
    shown += "\n";
  }
  return shown;
}

TEST(RewritingTest, NothingChangesForATemplateThatTakesAll) {
  const std::vector<Message> messages = {system("s"),      user("a"),        user("b"), calls({"1", "2"}),
                                         result("1", "r"), result("2", "q"), user("c"), system("t")};
  EXPECT_EQ(show(rewrite(messages, {})), show(messages));
}

TEST(RewritingTest, DeveloperIsSystemAndResultsGetTheirFunctionsName) {
  const auto messages = rewrite({say(Role::kDeveloper, "d"), calls({"1"}), result("1", "r")}, {});
  EXPECT_EQ(messages[0].role, Role::kSystem);
  EXPECT_EQ(messages[2].tool_name, "f_1");
}

TEST(RewritingTest, RefusedSystemMessagesBecomeUserMessagesInPlace) {
  TemplateTraits traits;
  traits.shows_later_system = false;
  const std::vector<Message> messages = {system("s"), user("a"), assistant("b"), system("t"), user("c")};
  EXPECT_EQ(show(rewrite(messages, traits)), "system 's'\nuser 'a'\nassistant 'b'\nuser 't'\nuser 'c'\n");
  traits.shows_system = traits.allows_repeated_user = false;
  EXPECT_EQ(show(rewrite(messages, traits)), "user 's\n\na'\nassistant 'b'\nuser 't\n\nc'\n");
}

TEST(RewritingTest, NeighboursOfOneRoleAreMerged) {
  TemplateTraits traits;
  traits.allows_repeated_assistant = false;
  EXPECT_EQ(
      show(rewrite({user("a"), user("b"), assistant("c"), assistant(""), calls({"1"}, "d"), result("1", "r")},
                   traits)),
      "user 'a'\nuser 'b'\nassistant 'c\n\nd' call 1\ntool 'r' for 1\n");
  // A call waits for its result, even if none comes.
  EXPECT_EQ(show(rewrite({calls({"1"}), assistant("x")}, traits)), "assistant call 1\nassistant 'x'\n");
}

TEST(RewritingTest, ImagesStayWhereTheyAreWhenMessagesMerge) {
  TemplateTraits traits;
  traits.allows_repeated_user = false;
  Message image = user("look");
  image.content.push_back({ContentPart::Kind::kImage, {}, "png"});
  const auto merged = rewrite({image, user("and"), image}, traits);
  ASSERT_EQ(merged.size(), 1u);
  ASSERT_EQ(merged[0].content.size(), 4u);
  EXPECT_EQ(merged[0].content[1].kind, ContentPart::Kind::kImage);
  EXPECT_EQ(merged[0].content[2].text, "and\n\nlook");
}

TEST(RewritingTest, TextBesideACallGetsATurnOfItsOwn) {
  TemplateTraits traits;
  traits.shows_text_beside_call = false;
  EXPECT_EQ(show(rewrite({user("q"), calls({"1"}, "a"), result("1", "r")}, traits)),
            "user 'q'\nassistant 'a'\nassistant call 1\ntool 'r' for 1\n");
  traits.allows_repeated_assistant = false;
  EXPECT_EQ(show(rewrite({calls({"1"}, "a")}, traits)), "assistant 'a' call 1\n");
}

TEST(RewritingTest, ImagesInResultsFollowTheResults) {
  TemplateTraits traits;
  traits.shows_images_in_results = false;
  Message pictured = result("1", "r");
  pictured.content.insert(pictured.content.begin(), {ContentPart::Kind::kImage, {}, "png"});
  const auto moved = rewrite({calls({"1", "2"}), pictured, result("2", "q"), assistant("a")}, traits);
  EXPECT_EQ(show(moved), "assistant call 1 call 2\ntool 'r' for 1\ntool 'q' for 2\nuser ''\nassistant 'a'\n");
  EXPECT_EQ(moved[3].content[0].image_bytes, "png");
}

TEST(RewritingTest, AUserBehindAToolGetsABridgeOrIsAppended) {
  const std::vector<Message> messages = {user("a"), calls({"1"}), result("1", "r"), user("b"),
                                         assistant("c")};
  TemplateTraits traits;
  traits.allows_user_after_tool = false;
  EXPECT_EQ(show(rewrite(messages, traits)),
            "user 'a'\nassistant call 1\ntool 'r' for 1\nassistant\nuser 'b'\nassistant 'c'\n");
  traits.allows_bridge_after_tool = false;
  EXPECT_EQ(show(rewrite(messages, traits)),
            "user 'a'\nassistant call 1\ntool 'r\n\nb' for 1\nassistant 'c'\n");
}

TEST(RewritingTest, ALeadingAssistantGetsAnEmptyUserInFront) {
  TemplateTraits traits;
  traits.allows_assistant_first = false;
  EXPECT_EQ(show(rewrite({system("s"), assistant("a"), user("b")}, traits)),
            "system 's'\nuser\nassistant 'a'\nuser 'b'\n");
  EXPECT_EQ(show(rewrite({user("b")}, traits)), "user 'b'\n");
}

TEST(RewritingTest, ParallelCallsBecomeTurnsWithTheirResults) {
  TemplateTraits traits;
  traits.allows_parallel_calls = false;
  EXPECT_EQ(show(rewrite({user("a"), calls({"1", "2", "3"}, "t"), result("2", "r2"), result("1", "r1"),
                          result("9", "?"), user("b")},
                         traits)),
            "user 'a'\nassistant 't' call 1\ntool 'r1' for 1\nassistant call 2\ntool 'r2' for 2\nassistant "
            "call 3\ntool '?' for 9\n"
            "user 'b'\n");
}

TEST(RewritingTest, CallsThatAreNotShownBecomeText) {
  TemplateTraits traits;
  traits.shows_tool_calls = false;
  EXPECT_EQ(show(rewrite({user("a"), calls({"1", "2"}, "t"), result("1", "r")}, traits)),
            "user 'a'\nassistant "
            "'t\n{\"name\":\"f_1\",\"arguments\":{\"k\":1}}\n{\"name\":\"f_2\",\"arguments\":{\"k\":1}}'\n"
            "user 'r' for 1\n");
}

TEST(RewritingTest, ReasoningAndTextBesideACallAreJoined) {
  TemplateTraits traits;
  traits.allows_reasoning_beside_call = false;
  Message both = calls({"1"}, "text");
  both.reasoning = "thought";
  Message plain = assistant("text");
  plain.reasoning = "thought";
  EXPECT_EQ(show(rewrite({both, plain}, traits)),
            "assistant reasoning 'thought\n\ntext' call 1\nassistant 'text' reasoning 'thought'\n");
}

TEST(RewritingTest, ShortIdsAreMadeFromLongOnes) {
  TemplateTraits traits;
  traits.takes_any_call_id = false;
  const auto messages =
      rewrite({calls({"call_abc", "Abcdefg12"}), result("call_abc", "r"), result("", "q")}, traits);
  EXPECT_EQ(messages[0].tool_calls[0].id.size(), 9u);
  EXPECT_EQ(messages[0].tool_calls[0].id, messages[1].tool_call_id);
  EXPECT_EQ(messages[0].tool_calls[1].id, "Abcdefg12");
  EXPECT_EQ(messages[2].tool_call_id.size(), 9u);
}

TEST(RewritingTest, WhatIsAppendedNeverChangesWhatStandsBefore) {
  const TemplateTraits strict = most_restrictive({});
  std::vector<Message> messages = {system("s"),      user("a"), calls({"1", "2"}), result("1", "r"),
                                   result("2", "q"), user("b"), user("c"),         assistant("d"),
                                   system("t"),      user("e"), calls({"3"}, "f"), result("3", "x"),
                                   system("u"),      user("g"), assistant("h")};
  std::string before;
  for (size_t count = 1; count <= messages.size(); ++count) {
    if (messages[count - 1].role == Role::kTool && count < messages.size() &&
        messages[count].role == Role::kTool)
      continue;
    std::string shown =
        show(rewrite({messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(count)}, strict));
    // Merging goes on within the last message's text, so its closing quote may move.
    EXPECT_TRUE(shown.starts_with(before.substr(0, before.find_last_of('\'')))) << before << "--\n" << shown;
    before = std::move(shown);
  }
}

}  // namespace
}  // namespace tempo9::chat
