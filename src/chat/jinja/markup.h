// HTML escaping, which templates meet when they use `|safe` or `|escape`.
#pragma once
#include "chat/jinja/runtime.h"
#include "chat/jinja/text.h"

namespace tempo9::chat::jinja {

// The text as markup: escaped, unless it is markup already.
Text escape_html(Runtime& runtime, const Text& text);

}  // namespace tempo9::chat::jinja
