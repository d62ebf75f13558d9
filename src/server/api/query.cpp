#include "server/api/query.h"

#include <cctype>
#include <charconv>

namespace tempo9::server {

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const bool coded = text[i] == '%' && i + 2 < text.size() &&
                       std::isxdigit(static_cast<unsigned char>(text[i + 1])) &&
                       std::isxdigit(static_cast<unsigned char>(text[i + 2]));
    if (coded) {
      std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size() + (pair.size() < query.size() ? 1 : 0));
    const size_t equals = pair.find('=');
    if (pair.substr(0, equals) == name)
      return percent_decoded(equals == pair.npos ? std::string_view() : pair.substr(equals + 1));
  }
  return std::nullopt;
}

std::optional<int> query_number(std::string_view query, std::string_view name) {
  const auto text = query_value(query, name);
  int number = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && end == text->data() + text->size() ? std::optional(number) : std::nullopt;
}

}  // namespace tempo9::server
