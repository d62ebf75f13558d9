// The tools of a Responses request.
#pragma once
#include <string>
#include <vector>

#include "chat/chat_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

// Functions, functions in namespaces (their names are put together), free-form tools and a search that the
// client runs. Tools that OpenAI's own servers would run are left out and named in `left_out`.
void read_responses_tools(Fields& fields, chat::ChatRequest& conversation,
                          std::vector<std::string>& left_out);

// One of them, appended to `tools`.
void read_responses_tool(const Json& value, const FieldPath& path, Faults& faults,
                         std::vector<chat::Tool>& tools, std::vector<std::string>& left_out);

}  // namespace tempo9::server
