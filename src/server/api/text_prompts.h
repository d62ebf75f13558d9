// Texts as the endpoints that take no conversation get them.
#pragma once
#include <string_view>
#include <vector>

#include "server/api/api_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

// A string, an array of strings, an array of token ids, or an array of such arrays; at most `most` texts.
std::vector<TextPrompt> read_text_prompts(Fields& fields, std::string_view name, int vocabulary_size,
                                          size_t most);

}  // namespace tempo9::server
