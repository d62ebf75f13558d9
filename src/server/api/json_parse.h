// JSON text from strangers to a value, within limits of depth and size (base/limits.h). Threads: any.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tempo9::server {

using Json = nlohmann::ordered_json;

// kInvalidArgument with the place (line and column, in bytes) and the reason. Keys that occur twice in one
// object are refused: the parts of a program that read such a text may disagree about what it says.
Result<Json> parse_json(std::string_view text);
// The same for one of several texts that share the bound: `values` counts on, also where it is exceeded.
Result<Json> parse_json(std::string_view text, size_t& values);

// Compact text. Strings that are not UTF-8 get replacement characters.
std::string dump_json(const Json& value);

// What is quoted from a request in a message: cut where it is long.
std::string abbreviate(std::string_view text);

}  // namespace tempo9::server
