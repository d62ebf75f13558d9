// The form that a client wants the reply's text to have.
#pragma once
#include <string_view>

#include "server/api/api_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

// A field such as OpenAI's `response_format`: an object whose `type` is text, json_object or json_schema, the
// schema standing in it as `schema` or as `json_schema.schema`.
void read_output_format(Fields& fields, std::string_view name, OutputFormat& output);

// Likewise Ollama's `format`: "json", or the schema itself.
void read_ollama_format(Fields& fields, OutputFormat& output);

}  // namespace tempo9::server
