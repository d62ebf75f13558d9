// What OpenAI's two completion endpoints have in common on the way in.
#pragma once
#include <span>

#include "server/api/api_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

// Model, stream, stop strings, length, choices and sampling.
void read_common_fields(Fields& fields, const engine::ModelInfo& model, ApiRequest& request);

// A field that would change the answer in a way this server does not know. Sent with a value that asks for
// nothing (null, false, 0, "", "none", [], {}, or `harmless`) it does no harm; otherwise the request is
// refused.
struct UnsupportedField {
  std::string_view name;
  std::string_view harmless = {};
};
void refuse_unsupported(Fields& fields, std::span<const UnsupportedField> unsupported);

// Known, and without influence on the answer.
void ignore(Fields& fields, std::span<const std::string_view> names);

}  // namespace tempo9::server
