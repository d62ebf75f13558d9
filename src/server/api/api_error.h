// Why a request cannot be answered, before a dialect has put it into its own words.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/result.h"

namespace tempo9::server {

struct ApiError {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;     // a full sentence, without a trailing period
  std::string param = {};  // the field at fault: `messages[2].content[0].text`; may be empty
  int prompt_tokens = 0, context_length = 0;  // for kTooLong: dialects have their own sentence
};

template <class T>
using ApiResult = tl::expected<T, ApiError>;

inline tl::unexpected<ApiError> api_failure(const Error& error, std::string param = {}) {
  return tl::unexpected<ApiError>(ApiError{error.code, error.message, std::move(param)});
}

}  // namespace tempo9::server
