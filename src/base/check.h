// CHECK: an invariant that only a programming error can break. On in every build; prints the place and
// aborts. Input from outside is never checked with it: that is a Result.
#pragma once

namespace tempo9 {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace tempo9

#define CHECK(condition)                               \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::tempo9::check_failed(#condition, __FILE__, __LINE__))
