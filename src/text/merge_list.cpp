#include "text/merge_list.h"

#include <string>

#include "text/token_index.h"

namespace tempo9::text {
namespace {

constexpr std::string_view kMerges = "tokenizer.ggml.merges";

// Every token by its spelling in the file. Of equal spellings a normal token goes before others, then the
// lower id.
TokenIndex index_spellings(const Vocabulary& vocabulary) {
  TokenIndex index(static_cast<size_t>(vocabulary.size()));
  for (const bool normal : {true, false})
    for (TokenId token = 0; token < vocabulary.size(); ++token)
      if ((vocabulary.type(token) == TokenType::kNormal) == normal && !vocabulary.text(token).empty())
        index.add(vocabulary.texts(), token);
  return index;
}

}  // namespace

Result<MergeTable> read_merges(const gguf::Metadata& metadata, const Vocabulary& vocabulary) {
  TRY_ASSIGN(const std::vector<std::string_view> merges, metadata.strings(kMerges));
  const TokenIndex index = index_spellings(vocabulary);
  MergeTable table(merges.size());
  std::string joined;
  for (size_t i = 0; i < merges.size(); ++i) {
    const std::string_view merge = merges[i];
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos)
      return fail(ErrorCode::kCorrupt, "{}[{}] is not two tokens with a space between them", kMerges, i);
    const std::string_view left = merge.substr(0, space), right = merge.substr(space + 1);
    joined.assign(left).append(right);
    const TokenId left_token = index.find(vocabulary.texts(), left);
    const TokenId right_token = index.find(vocabulary.texts(), right);
    const TokenId token = index.find(vocabulary.texts(), joined);
    if (left_token == kNoToken || right_token == kNoToken || token == kNoToken)
      return fail(ErrorCode::kCorrupt, "{}[{}] joins what tokenizer.ggml.tokens does not hold", kMerges, i);
    if (!vocabulary.is_control(token) && !vocabulary.is_control(left_token) &&
        !vocabulary.is_control(right_token))
      table.add(left_token, right_token, {static_cast<uint32_t>(i), token});
  }
  return table;
}

}  // namespace tempo9::text
