#include "chat/jinja/markup.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace tempo9::chat::jinja {

Text escape_html(Runtime& runtime, const Text& text) {
  if (text.is_markup()) return text;
  constexpr std::string_view kEscaped = "&<>'\"";
  constexpr size_t kLongest = 5;  // of what stands for one of them
  Text result(runtime.meter());
  const auto count = static_cast<size_t>(
      std::ranges::count_if(text.view(), [&](char c) { return kEscaped.find(c) != kEscaped.npos; }));
  const size_t most = text.size() + (kLongest - 1) * count;
  if (count == 0) {
    result = text;
  } else if (runtime.meter()->allow(most)) {
    std::string escaped;
    escaped.reserve(most);
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
    result = text.derive(std::move(escaped)).counted_by(runtime.meter());
  }
  result.set_markup(true);
  return result;
}

}  // namespace tempo9::chat::jinja
