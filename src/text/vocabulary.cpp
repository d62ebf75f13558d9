#include "text/vocabulary.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/limits.h"

namespace tempo9::text {
namespace {

constexpr std::string_view kTokens = "tokenizer.ggml.tokens", kTypes = "tokenizer.ggml.token_type";

Result<std::optional<bool>> read_flag(const gguf::Metadata& metadata, std::string_view key) {
  if (!metadata.has(key)) return std::nullopt;
  TRY_ASSIGN(const bool value, metadata.boolean(key));
  return value;
}

}  // namespace

Result<Vocabulary> Vocabulary::read(const gguf::Metadata& metadata) {
  Vocabulary vocabulary;
  TRY_ASSIGN(const std::vector<std::string_view> texts, metadata.strings(kTokens));
  if (texts.empty() || texts.size() > limits::kMaxVocabularyTokens)
    return fail(ErrorCode::kCorrupt, "{} has {} elements, not 1 to {}", kTokens, texts.size(),
                limits::kMaxVocabularyTokens);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() > limits::kMaxTokenBytes)
      return fail(ErrorCode::kUnsupported, "{}[{}] has {} bytes, more than {}", kTokens, i, texts[i].size(),
                  limits::kMaxTokenBytes);
    vocabulary.texts_.push_back(texts[i]);
  }
  TRY(vocabulary.read_types(metadata));
  TRY(vocabulary.read_special_ids(metadata));
  TRY(vocabulary.mark_ends_of_generation(metadata));
  TRY(vocabulary.mark_space_swallowers(metadata));
  return vocabulary;
}

Status Vocabulary::read_types(const gguf::Metadata& metadata) {
  types_.assign(texts_.size(), TokenType::kNormal);
  if (!metadata.has(kTypes)) return {};
  TRY_ASSIGN(const std::vector<int64_t> types, metadata.integers(kTypes));
  if (types.size() != texts_.size())
    return fail(ErrorCode::kCorrupt, "{} has {} elements, but {} has {}", kTypes, types.size(), kTokens,
                texts_.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] < 0 || types[i] > static_cast<int64_t>(TokenType::kByte))
      return fail(ErrorCode::kCorrupt, "{}[{}] is {}, which is no token type", kTypes, i, types[i]);
    types_[i] = static_cast<TokenType>(types[i]);
  }
  return {};
}

Result<std::optional<TokenId>> Vocabulary::read_id(const gguf::Metadata& metadata,
                                                   std::string_view key) const {
  if (!metadata.has(key)) return std::nullopt;
  TRY_ASSIGN(const uint64_t id, metadata.unsigned_integer(key));
  if (id >= texts_.size())
    return fail(ErrorCode::kCorrupt, "{} is {}, but {} has {} elements", key, id, kTokens, texts_.size());
  return static_cast<TokenId>(id);
}

Status Vocabulary::read_special_ids(const gguf::Metadata& metadata) {
  TRY_ASSIGN(begin_, read_id(metadata, "tokenizer.ggml.bos_token_id"));
  TRY_ASSIGN(end_, read_id(metadata, "tokenizer.ggml.eos_token_id"));
  TRY_ASSIGN(unknown_, read_id(metadata, "tokenizer.ggml.unknown_token_id"));
  TRY_ASSIGN(adds_begin_, read_flag(metadata, "tokenizer.ggml.add_bos_token"));
  TRY_ASSIGN(adds_end_, read_flag(metadata, "tokenizer.ggml.add_eos_token"));
  if (!metadata.has(kTypes)) {  // nothing else says that these are not text
    for (const auto& token : {begin_, end_})
      if (token) types_[static_cast<size_t>(*token)] = TokenType::kControl;
    if (unknown_) types_[static_cast<size_t>(*unknown_)] = TokenType::kUnknown;
  }
  return {};
}

// Phi-3's special tokens take the white space behind them with them, except three. No key of the format says
// so; the reference goes by the model's name, and so do we.
Status Vocabulary::mark_space_swallowers(const gguf::Metadata& metadata) {
  swallows_space_.assign(texts_.size(), false);
  TRY_ASSIGN(const std::string_view name, metadata.string_or("general.name", ""));
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower.find("phi-3") == std::string::npos && lower.find("phi3") == std::string::npos) return {};
  constexpr std::array<std::string_view, 3> kExceptions = {"<unk>", "<s>", "<|endoftext|>"};
  for (TokenId token = 0; token < size(); ++token) {
    const bool special = is_control(token) || type(token) == TokenType::kUserDefined;
    swallows_space_[static_cast<size_t>(token)] =
        special && std::find(kExceptions.begin(), kExceptions.end(), text(token)) == kExceptions.end();
  }
  return {};
}

}  // namespace tempo9::text
