// A target's query: "limit=20&order=asc".
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tempo9::server {

// "%C3%A9" to "é"; what is no such code stays as it is.
std::string percent_decoded(std::string_view text);

// The decoded value of the first parameter of that name.
std::optional<std::string> query_value(std::string_view query, std::string_view name);
// The same, if it is a number.
std::optional<int> query_number(std::string_view query, std::string_view name);

}  // namespace tempo9::server
