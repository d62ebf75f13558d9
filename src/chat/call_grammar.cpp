#include "chat/call_grammar.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "chat/answer_form.h"
#include "chat/parsers/styles.h"
#include "grammar/json_schema.h"

namespace tempo9::chat {
namespace {

using grammar::Form;
using Forms = std::vector<Form>;

constexpr size_t kLeastMark = 4;

Form free_text(std::string excluded) {
  Form form{Form::Kind::kFreeText};
  if (!excluded.empty()) form.words = {std::move(excluded)};
  return form;
}

Form repeated(Form part, int least, int most) {
  Form form{Form::Kind::kRepeat};
  form.parts = {std::move(part)};
  form.least = least;
  form.most = most;
  return form;
}

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
      parts.push_back(
          repeated(grammar::sequence_form({markup(style_.form.between), std::move(call)}), 0, -1));
    parts.push_back(markup(style_.form.close));
    return grammar::sequence_form(std::move(parts));
  }

  // Whether text is not likely to hold by chance what begins a call.
  bool are_marked() const { return beginning().size() >= kLeastMark; }
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

 private:
  Form markup(std::string_view text) const {
    return grammar::text_form(std::string(text), {style_.markers.begin(), style_.markers.end()});
  }

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
      TRY_ASSIGN(Form form, arguments(tool));
      const std::string head =
          fmt::format("{}{}{}", style_.form.before_name, tool.name, style_.form.after_name);
      calls.push_back(grammar::sequence_form(
          {markup(std::string_view(head).substr(begun.size())), std::move(form), markup(style_.form.end)}));
    }
    return grammar::choice_form(std::move(calls));
  }

  // The one text that a free-form tool takes, by its own grammar.
  Form freeform(const Tool& tool, const std::string& subject) const {
    const bool lark = tool.format.at("syntax") == "lark";
    Form text{lark ? Form::Kind::kLark : Form::Kind::kRegex, tool.format.at("definition").get<std::string>(),
              nullptr, subject};
    const auto within = [&](std::string_view before, std::string_view behind) {
      return grammar::sequence_form({markup(before), std::move(text), markup(behind)});
    };
    switch (style_.form.arguments) {
      case ArgumentSyntax::kXmlParameters:
        return within("<parameter=input>\n", "\n</parameter>\n");
      case ArgumentSyntax::kGemma:
        return within("input:<|\"|>", "<|\"|>");
      case ArgumentSyntax::kJson:
        text.in_json = true;
        return within("{\"input\": \"", "\"}");
      case ArgumentSyntax::kKeywords:
        break;
    }
    text.in_json = true;  // Python reads JSON's escapes alike
    return within("input=\"", "\"");
  }

  Result<Form> arguments(const Tool& tool) const {
    const std::string subject = fmt::format("tool '{}'", tool.name);
    if (!tool.format.is_null()) return freeform(tool, subject);
    const Json any = {{"type", "object"}};
    const Json& schema = tool.parameters.is_null() ? any : tool.parameters;
    const bool kept = grammar::json_schema_to_ebnf(schema, subject).has_value();
    switch (style_.form.arguments) {
      case ArgumentSyntax::kJson:
        return grammar::schema_form(kept || tool.strict ? schema : any, subject);
      case ArgumentSyntax::kXmlParameters:
        return parameters(tool, schema, subject);
      case ArgumentSyntax::kKeywords:
      case ArgumentSyntax::kGemma:
        break;
    }
    if (tool.strict)
      return fail(ErrorCode::kUnsupported,
                  "{}: 'strict' is not supported with the way this model writes calls", subject);
    return free_text(std::string(style_.form.end));
  }

  // Each property on its own: texts as they are, everything else as JSON.
  static Result<Form> parameters(const Tool& tool, const Json& schema, const std::string& subject) {
    const Json none = Json::object();
    const bool listed =
        schema.is_object() && schema.contains("properties") && schema.at("properties").is_object();
    const Json& properties = listed ? schema.at("properties") : none;
    const Json required =
        schema.is_object() && schema.contains("required") ? schema.at("required") : Json::array();
    Forms parts;
    for (const auto& [name, own] : properties.items()) {
      TRY_ASSIGN(Form value, parameter(tool, schema, own, fmt::format("{}, parameter '{}'", subject, name)));
      Form part = grammar::sequence_form({grammar::text_form(fmt::format("<parameter={}>\n", name)),
                                          std::move(value), grammar::text_form("\n</parameter>\n")});
      const bool must = std::find(required.begin(), required.end(), name) != required.end();
      parts.push_back(must ? std::move(part) : repeated(std::move(part), 0, 1));
    }
    return grammar::sequence_form(std::move(parts));
  }

  static Result<Form> parameter(const Tool& tool, const Json& root, const Json& own,
                                const std::string& subject) {
    if (own.is_object() && own.contains("enum") && own.at("enum").is_array()) {
      Forms words;
      for (const Json& value : own.at("enum"))
        words.push_back(grammar::text_form(value.is_string() ? value.get<std::string>() : value.dump()));
      if (!words.empty()) return grammar::choice_form(std::move(words));
    }
    const bool text = own.is_object() && own.contains("type") && own.at("type") == "string";
    if (text) {
      const bool bounded = own.contains("minLength") || own.contains("maxLength") || own.contains("format");
      if (own.contains("pattern") && !bounded && own.at("pattern").is_string())
        return Form{Form::Kind::kRegex, own.at("pattern").get<std::string>(), nullptr, subject};
      if (tool.strict && (bounded || own.contains("pattern")))
        return fail(ErrorCode::kUnsupported,
                    "{}: a string's length or format cannot be kept with the way this model writes calls",
                    subject);
      return free_text("\n</parameter>");
    }
    Json schema = own;
    if (schema.is_object())  // its references point into the whole
      for (const char* definitions : {"$defs", "definitions"})
        if (root.contains(definitions)) schema[definitions] = root.at(definitions);
    if (!tool.strict && !grammar::json_schema_to_ebnf(schema, subject)) return free_text("\n</parameter>");
    return grammar::schema_form(std::move(schema), subject);
  }

  const CallStyle& style_;
  std::span<const Tool> tools_;
  const CallDemands& demands_;
};

}  // namespace

Result<std::optional<Form>> call_form(const ReplyStart& start, std::span<const Tool> tools,
                                      const CallDemands& demands, std::optional<Form> answer) {
  const auto strict = std::find_if(tools.begin(), tools.end(), is_held);
  const bool one = !tools.empty() && !demands.several && start.style != nullptr &&
                   !start.style->form.one_call && !start.style->always &&
                   Calls(*start.style, tools, demands).are_marked();
  if (!demands.required && strict == tools.end() && !one) {
    if (!answer) return std::nullopt;
    return answer_form(start, *std::move(answer));
  }
  if (start.style == nullptr)
    return fail(ErrorCode::kUnsupported,
                "it is not known how this model calls tools, so it cannot be held to it");
  if (!demands.required && start.style->always)  // a call has no beginning of its own
    return fail(ErrorCode::kUnsupported,
                "tool '{}': '{}' is not supported with the way this model writes calls", strict->name,
                strict->strict ? "strict" : "format");
  const Calls calls(*start.style, tools, demands);
  if (demands.required) {
    TRY_ASSIGN(Form form, calls.all());
    return answer_form(start, std::move(form));
  }
  if (answer) {
    TRY_ASSIGN(Form form, calls.all());
    return answer_form(start, grammar::choice_form({std::move(form), *std::move(answer)}));
  }
  TRY_ASSIGN(Form form, calls.among_text());
  return form;
}

}  // namespace tempo9::chat
