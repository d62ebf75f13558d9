// Reads tokenizer.ggml.merges: "left right" per element, the earlier joined first.
#pragma once
#include <string_view>

#include "base/result.h"
#include "gguf/metadata.h"
#include "text/merges.h"
#include "text/vocabulary.h"

namespace tempo9::text {

// Both parts and what they become must be tokens. Merges with a control token are left out: text must not
// become one.
Result<MergeTable> read_merges(const gguf::Metadata& metadata, const Vocabulary& vocabulary);

}  // namespace tempo9::text
