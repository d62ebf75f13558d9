// Bodies of requests, rendered by templates that refuse, demand and lose different things: a prompt or a
// refusal comes out, its content lies within it in order, and twice the same.
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "chat/chat_template.h"
#include "chat/jinja/unicode.h"
#include "server/api/anthropic_request.h"
#include "server/api/openai_chat_request.h"
#include "server/api/responses_request.h"

namespace {

using namespace tempo9;
using Templates = std::vector<std::shared_ptr<const chat::ChatTemplate>>;

constexpr const char* kSources[] = {
    // Takes everything.
    "{% for m in messages %}<{{ m.role }}>{{ m.reasoning_content }}{{ m.content }}{% for c in m.tool_calls %}"
    "<call>{{ c.function | tojson }}{% endfor %}{% endfor %}{{ tools | tojson }}{{ reasoning_effort }}",
    // Roles in turns, short call ids.
    "{% set ns = namespace(n=0) %}{% for m in messages %}{% if m.role == 'system' %}{{ "
    "raise_exception('system') }}"
    "{% elif m.role == 'user' or not m.tool_calls and m.role == 'assistant' %}"
    "{% if (m.role == 'user') != (ns.n % 2 == 0) %}{{ raise_exception('turns') }}{% endif %}"
    "{% set ns.n = ns.n + 1 %}{% endif %}[{{ m.content }}{% for c in m.tool_calls or [] %}"
    "{% if c.id | length != 9 %}{{ raise_exception('id') }}{% endif %}{{ c.function | tojson }}{% endfor %}"
    "{% if m.role == 'tool' %}{{ m.tool_call_id }}{% endif %}]{% endfor %}{% for t in tools or [] %}"
    "{{ t.function.name }}{{ t.function.parameters.properties | tojson }}{% endfor %}",
    // No tools, no system message, strict turns.
    "{% for m in messages %}{% if m.role not in ['user', 'assistant'] %}{{ raise_exception('role') }}{% "
    "endif %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('turns') }}{% endif %}"
    "<{{ m.role }}>{{ m.content | trim }}{% endfor %}",
    // One call in a turn and no text beside it; arguments as text; efforts of its own.
    "{% if reasoning_effort | default('low') not in ['low', 'xhigh'] %}{{ raise_exception('effort') }}{% "
    "endif %}"
    "{% for m in messages %}<{{ m.role }}>{% if m.tool_calls %}{% if m.tool_calls | length > 1 %}"
    "{{ raise_exception('one call') }}{% endif %}{% if m.content and m.thinking %}{{ raise_exception('both') "
    "}}"
    "{% endif %}{{ m.tool_calls[0].function.name }}({{ m.tool_calls[0].function.arguments }})"
    "{% else %}{{ m.content }}{% endif %}{% endfor %}{{ tools | tojson if tools }}",
    // Parts, with images everywhere, or only outside of results.
    "{% for m in messages %}<{{ m.role }}>{% for p in m.content %}{{ '<image>' if p.type == 'image' else "
    "p.text }}"
    "{% endfor %}{% for c in m.tool_calls %}{{ c.function | tojson }}{% endfor %}{% endfor %}",
    "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% elif m.role == "
    "'tool' %}"
    "{{ m.content | tojson }}{% else %}{% for p in m.content %}{{ '<image>' if p.type == 'image' else p.text "
    "}}"
    "{% endfor %}{% endif %}{% for c in m.tool_calls %}{{ c.function | tojson }}{% endfor %}{% endfor %}",
};

const Templates& templates() {
  static const Templates parsed = [] {
    Templates all;
    for (const char* source : kSources) {
      auto made = chat::ChatTemplate::parse(source, "<s>", "</s>");
      CHECK(made.has_value());
      all.push_back(*std::move(made));
    }
    return all;
  }();
  return parsed;
}

void check_rendering(const chat::ChatTemplate& chat_template, const chat::ChatRequest& request) {
  const auto prompt = chat_template.render(request);
  if (!prompt) return CHECK(!prompt.error().message.empty());
  CHECK(chat::jinja::unicode::is_valid(prompt->text));
  if (request.continue_final_message)
    CHECK(!prompt->content.empty() && prompt->content.back().end == prompt->text.size());
  size_t end = 0;
  for (const chat::ContentRange& range : prompt->content) {
    CHECK(end <= range.begin && range.begin < range.end && range.end <= prompt->text.size());
    end = range.end;
  }
  const auto again = chat_template.render(request);
  CHECK(again.has_value() && again->text == prompt->text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const engine::ModelInfo model;
  for (const auto parse :
       {server::parse_anthropic_messages, server::parse_openai_chat, server::parse_openai_responses}) {
    const auto request = parse(body, model);
    if (!request) continue;
    for (const auto& chat_template : templates())
      check_rendering(*chat_template, std::get<chat::ChatRequest>(request->input));
  }
  return 0;
}
