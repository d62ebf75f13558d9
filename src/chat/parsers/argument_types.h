// Values of parameters that a model writes without saying what they are: typed by the tool's JSON schema.
#pragma once
#include <string>
#include <string_view>

#include "chat/chat_request.h"

namespace tempo9::chat {

// A set of JSON types, as bits.
namespace types {
inline constexpr unsigned kString = 1, kInteger = 2, kNumber = 4, kBoolean = 8, kNull = 16, kArray = 32,
                          kObject = 64, kAny = 127;
}

// What the schema allows for the parameter `name` of the tool; kAny where it says nothing.
unsigned allowed_types(const Tool& tool, std::string_view name);

// The JSON of a value written as `text`: of the types allowed the one that it is the text of, a string only
// if it is nothing else. What is not allowed at all is a string, too: the tool will say what it thinks of it.
std::string type_value(std::string_view text, unsigned allowed);

// The same for a value written as a JSON string, number or word.
std::string retype_value(const std::string& json, unsigned allowed);

}  // namespace tempo9::chat
