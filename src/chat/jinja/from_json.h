// JSON of a request to values of a template.
#pragma once
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

// All strings, keys included, are content. Fails on text that is not UTF-8 and on what is nested too deep.
Result<Value> from_json(Runtime& runtime, const nlohmann::ordered_json& json);
// A string of the request.
Result<Value> from_text(Runtime& runtime, const std::string& text);

}  // namespace tempo9::chat::jinja
