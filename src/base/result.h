// How rooms report failure: a value, never an exception across a room's border.
//   Result<T> holds a T or an Error; Status is Result<void>.
// A third-party library that throws is caught in the one file that includes it.
#pragma once
#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tempo9 {

enum class ErrorCode {
  kInvalidArgument,  // the caller's input is wrong; the message names the field or option
  kNotFound,
  kUnsupported,  // well-formed, but something this build does not do; the message names it
  kTooLong,      // a prompt beyond the context; the message carries both numbers
  kCorrupt,      // a file contradicts itself; the message names what and where
  kIo,           // the operating system refused; the message names the path
  kOutOfMemory,
  kBusy,  // a bounded queue is full; trying again later may succeed
  kCancelled,
  kInternal,
};

struct Error {
  ErrorCode code;
  std::string message;  // a full sentence a user can act on, without a trailing period
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace tempo9

// TRY(f());            returns f's error from the calling function
// TRY_ASSIGN(auto x, f());   likewise, else x is f's value
#define TEMPO9_CONCAT_(a, b) a##b
#define TEMPO9_CONCAT(a, b) TEMPO9_CONCAT_(a, b)
#define TRY(expression)                                                        \
  do {                                                                         \
    if (auto try_result = (expression); !try_result)                           \
      return ::tl::unexpected<::tempo9::Error>(std::move(try_result).error()); \
  } while (false)
#define TRY_ASSIGN(declaration, expression) \
  TRY_ASSIGN_(TEMPO9_CONCAT(try_result_, __LINE__), declaration, expression)
#define TRY_ASSIGN_(result, declaration, expression)                                \
  auto result = (expression);                                                       \
  if (!result) return ::tl::unexpected<::tempo9::Error>(std::move(result).error()); \
  declaration = *std::move(result)
