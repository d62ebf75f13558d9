// Unicode normalisation form C.
#pragma once
#include <string>
#include <string_view>

namespace tempo9::text {

// Bytes that are not valid UTF-8 stay as they are, and what stands on either side of them is composed apart.
// O(n log n), also for long runs of combining marks.
std::string compose(std::string_view text);

}  // namespace tempo9::text
