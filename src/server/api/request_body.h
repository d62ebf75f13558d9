// Reading a whole body: what the parsers of all dialects begin and end with.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "server/api/fields.h"

namespace tempo9::server {

// `read` takes from the body's fields what the request needs. The first fault is the answer; otherwise the
// request with the fields that nobody asked for, and the gap if it has a place for one.
template <class Request, class Read>
ApiResult<Request> read_body(const Json& body, Read read) {
  Faults faults;
  const FieldPath root;
  Fields fields(body, root, faults);
  Request request;
  read(fields, request);
  if (faults.first()) return tl::unexpected<ApiError>(*faults.first());
  if constexpr (requires { request.gap; }) request.gap = faults.gap();
  for (std::string& name : fields.unknown()) request.unknown_fields.push_back(std::move(name));
  return request;
}

template <class Request, class Read>
ApiResult<Request> parse_body(std::string_view text, Read read) {
  const Result<Json> body = parse_json(text);
  if (!body) return api_failure(body.error());
  return read_body<Request>(*body, std::move(read));
}

}  // namespace tempo9::server
