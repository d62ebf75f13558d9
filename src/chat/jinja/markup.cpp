#include "chat/jinja/markup.h"

#include <string>

namespace tempo9::chat::jinja {

Text escape_html(const Text& text) {
  if (text.is_markup()) return text;
  Text result;
  if (text.view().find_first_of("&<>'\"") == std::string_view::npos) {
    result = text;
  } else {
    std::string escaped;
    for (const char c : text.view()) {
      switch (c) {
        case '&':
          escaped += "&amp;";
          break;
        case '<':
          escaped += "&lt;";
          break;
        case '>':
          escaped += "&gt;";
          break;
        case '\'':
          escaped += "&#39;";
          break;
        case '"':
          escaped += "&#34;";
          break;
        default:
          escaped += c;
      }
    }
    result = text.derive(std::move(escaped));
  }
  result.set_markup(true);
  return result;
}

}  // namespace tempo9::chat::jinja
