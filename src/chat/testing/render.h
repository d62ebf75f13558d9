// Helpers of the room's tests: run a template on JSON variables, and show what is marked as content.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "chat/jinja/engine.h"
#include "chat/jinja/from_json.h"

namespace tempo9::chat::testing {

inline Result<jinja::Text> render(std::string_view source,
                                  const nlohmann::ordered_json& variables = nlohmann::ordered_json::object(),
                                  size_t max_steps = limits::kMaxTemplateSteps) {
  TRY_ASSIGN(const jinja::Template parsed, jinja::Template::parse(source));
  jinja::Runtime runtime(max_steps);
  TRY_ASSIGN(const jinja::Value values, jinja::from_json(runtime, variables));
  return parsed.render(runtime, values);
}

// The text, or "error: " and the message.
inline std::string render_text(std::string_view source,
                               const nlohmann::ordered_json& variables = nlohmann::ordered_json::object()) {
  const Result<jinja::Text> text = render(source, variables);
  return text ? text->bytes() : "error: " + text.error().message;
}

// The text with «» around what is content.
template <class Ranges>
std::string show_content(std::string_view text, const Ranges& ranges) {
  std::string shown;
  size_t at = 0;
  for (const auto& [begin, end] : ranges) {
    shown += text.substr(at, begin - at);
    shown += "«";
    shown += text.substr(begin, end - begin);
    shown += "»";
    at = end;
  }
  shown += text.substr(at);
  return shown;
}

}  // namespace tempo9::chat::testing
