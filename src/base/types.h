// Words that several rooms share.
#pragma once
#include <cstdint>

namespace tempo9 {
using TokenId = int32_t;  // index into the vocabulary; negative is never a token
}  // namespace tempo9
