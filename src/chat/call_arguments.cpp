#include "chat/call_arguments.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "grammar/json_schema.h"

namespace tempo9::chat {
namespace {

using grammar::Form;
using grammar::ValueSyntax;
using Forms = std::vector<Form>;

constexpr std::string_view kParameterEnd = "\n</parameter>";

ValueSyntax python_values() {
  ValueSyntax syntax;
  syntax.yes = "True", syntax.no = "False", syntax.none = "None";
  syntax.assign = "=";
  return syntax;
}

ValueSyntax gemma_values(std::string_view quote) {
  ValueSyntax syntax;
  syntax.texts = ValueSyntax::Texts::kQuoted;
  syntax.quote = quote;
  syntax.comma = ",", syntax.colon = syntax.assign = ":";
  syntax.bare_keys = true;
  return syntax;
}

ValueSyntax bare_text() {
  ValueSyntax syntax;
  syntax.texts = ValueSyntax::Texts::kBare;
  syntax.quote = "<";  // of the tag behind it
  return syntax;
}

Form free_text(std::string_view excluded) {
  Form form{Form::Kind::kFreeText};
  form.words = {std::string(excluded)};
  return form;
}

// The one text that a free-form tool takes, by its own grammar.
Form freeform(const CallStyle& style, const Tool& tool, const std::string& subject) {
  const bool lark = tool.format.at("syntax") == "lark";
  Form text{lark ? Form::Kind::kLark : Form::Kind::kRegex,
            tool.format.at("definition").get<std::string>(),
            nullptr,
            {},
            subject};
  const auto within = [&](std::string_view before, std::string_view behind) {
    return grammar::sequence_form({call_markup(style, before), text, call_markup(style, behind)});
  };
  const std::string quote(style.form.quote);
  switch (style.form.arguments) {
    case ArgumentSyntax::kXmlParameters:
      return within("<parameter=input>\n", fmt::format("{}\n", kParameterEnd));
    case ArgumentSyntax::kGemma:
      return within("input:" + quote, quote);
    case ArgumentSyntax::kJson:
      text.in_json = true;
      return within("{\"input\": \"", "\"}");
    case ArgumentSyntax::kKeywords:
      break;
  }
  text.in_json = true;  // Python reads JSON's escapes alike
  return within("input=\"", "\"");
}

Form choice_of_words(const Json& words) {
  Forms forms;
  for (const Json& value : words)
    forms.push_back(grammar::text_form(value.is_string() ? value.get<std::string>() : value.dump()));
  return grammar::choice_form(std::move(forms));
}

// Texts as they are, everything else as JSON.
Form parameter(const Tool& tool, const Json& root, const Json& own, const std::string& subject) {
  if (own.is_object() && own.contains("enum") && own.at("enum").is_array() && !own.at("enum").empty())
    return choice_of_words(own.at("enum"));
  const bool text = own.is_object() && own.contains("type") && own.at("type") == "string";
  Json schema = own;
  if (schema.is_object())  // its references point into the whole
    for (const char* definitions : {"$defs", "definitions"})
      if (root.contains(definitions)) schema[definitions] = root.at(definitions);
  const ValueSyntax syntax = text ? bare_text() : ValueSyntax();
  const bool bounded =
      !text || std::ranges::any_of(std::to_array({"minLength", "maxLength", "pattern", "format"}),
                                   [&](const char* keyword) { return own.contains(keyword); });
  const bool kept = tool.strict || grammar::json_schema_to_ebnf(schema, subject, syntax);
  if (!bounded || !kept) return free_text(kParameterEnd);
  return grammar::schema_form(std::move(schema), subject, syntax);
}

// Each property on its own.
Form parameters(const Tool& tool, const Json& schema, const std::string& subject) {
  const Json none = Json::object();
  const bool listed =
      schema.is_object() && schema.contains("properties") && schema.at("properties").is_object();
  const Json& properties = listed ? schema.at("properties") : none;
  const Json required =
      schema.is_object() && schema.contains("required") ? schema.at("required") : Json::array();
  Forms parts;
  for (const auto& [name, own] : properties.items()) {
    Form part = grammar::sequence_form(
        {grammar::text_form(fmt::format("<parameter={}>\n", name)),
         parameter(tool, schema, own, fmt::format("{}, parameter '{}'", subject, name)),
         grammar::text_form(fmt::format("{}\n", kParameterEnd))});
    const bool must = std::find(required.begin(), required.end(), name) != required.end();
    parts.push_back(must ? std::move(part) : grammar::repeat_form(std::move(part), 0, 1));
  }
  return grammar::sequence_form(std::move(parts));
}

}  // namespace

Form call_markup(const CallStyle& style, std::string_view text) {
  return grammar::text_form(std::string(text), {style.markers.begin(), style.markers.end()});
}

Result<Form> argument_form(const CallStyle& style, const Tool& tool) {
  const std::string subject = fmt::format("tool '{}'", tool.name);
  if (!tool.format.is_null()) return freeform(style, tool, subject);
  const Json any = {{"type", "object"}};
  const Json& schema = tool.parameters.is_null() ? any : tool.parameters;
  if (style.form.arguments == ArgumentSyntax::kXmlParameters) return parameters(tool, schema, subject);
  ValueSyntax syntax;
  if (style.form.arguments == ArgumentSyntax::kKeywords) syntax = python_values();
  if (style.form.arguments == ArgumentSyntax::kGemma) syntax = gemma_values(style.form.quote);
  const bool kept = tool.strict || grammar::json_schema_to_ebnf(schema, subject, syntax);
  return grammar::schema_form(kept ? schema : any, subject, std::move(syntax));
}

}  // namespace tempo9::chat
