// SentencePiece's byte-pair encoding, as Llama 2, Mistral 7B, Phi-3 and Gemma 3 use it: of all neighbours
// whose texts together are a token's, the pair whose token has the highest score joins first. Reference:
// github.com/google/sentencepiece, src/bpe_model.cc.
#include <algorithm>
#include <cmath>

#include "text/character_bpe.h"
#include "text/tokenizer_kinds.h"
#include "text/utf8.h"

namespace tempo9::text {
namespace {

constexpr std::string_view kScores = "tokenizer.ggml.scores";

Result<std::vector<double>> read_scores(const gguf::Metadata& metadata, const Vocabulary& vocabulary) {
  TRY_ASSIGN(std::vector<double> scores, metadata.reals(kScores));
  if (scores.size() != static_cast<size_t>(vocabulary.size()))
    return fail(ErrorCode::kCorrupt, "{} has {} elements, but tokenizer.ggml.tokens has {}", kScores,
                scores.size(), vocabulary.size());
  for (size_t i = 0; i < scores.size(); ++i)
    if (std::isnan(scores[i])) return fail(ErrorCode::kCorrupt, "{}[{}] is not a number", kScores, i);
  return scores;
}

// Ranks from 0 for the highest score; equal scores share one.
std::vector<uint32_t> rank_scores(const std::vector<double>& scores) {
  std::vector<double> distinct = scores;
  std::sort(distinct.begin(), distinct.end(), std::greater<>());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<uint32_t> ranks;
  ranks.reserve(scores.size());
  for (const double score : scores) {
    const auto place = std::lower_bound(distinct.begin(), distinct.end(), score, std::greater<>());
    ranks.push_back(static_cast<uint32_t>(place - distinct.begin()));
  }
  return ranks;
}

// Every way to put a normal token together from two. (Each character of a token is a token too: that is how
// these vocabularies are trained.)
MergeTable list_merges(const Vocabulary& vocabulary, const std::vector<uint32_t>& ranks) {
  TokenIndex index(static_cast<size_t>(vocabulary.size()));
  for (TokenId token = 0; token < vocabulary.size(); ++token)
    if (vocabulary.type(token) == TokenType::kNormal && !vocabulary.text(token).empty())
      index.add(vocabulary.texts(), token);

  struct Pair {
    TokenId left, right, token;
  };
  std::vector<Pair> pairs;
  for (TokenId token = 0; token < vocabulary.size(); ++token) {
    const std::string_view text = vocabulary.text(token);
    if (text.empty() || index.find(vocabulary.texts(), text) != token) continue;
    for (size_t at = static_cast<size_t>(first_character(text).bytes); at < text.size();
         at += static_cast<size_t>(first_character(text.substr(at)).bytes)) {
      const TokenId left = index.find(vocabulary.texts(), text.substr(0, at));
      const TokenId right = index.find(vocabulary.texts(), text.substr(at));
      if (left != kNoToken && right != kNoToken) pairs.push_back({left, right, token});
    }
  }
  MergeTable merges(pairs.size());
  for (const Pair& pair : pairs)
    merges.add(pair.left, pair.right, {ranks[static_cast<size_t>(pair.token)], pair.token});
  return merges;
}

// Files that do not name these tokens mean the places where the trainer puts them.
std::optional<TokenId> control_token_at(const Vocabulary& vocabulary, TokenId token) {
  return vocabulary.has(token) && vocabulary.is_control(token) ? std::optional(token) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_sentence_piece(const gguf::Metadata& metadata) {
  TRY_ASSIGN(Vocabulary vocabulary, Vocabulary::read(metadata));
  TRY_ASSIGN(const std::vector<double> scores, read_scores(metadata, vocabulary));
  TRY_ASSIGN(const bool adds_space, metadata.boolean_or("tokenizer.ggml.add_space_prefix", true));
  const auto begin = vocabulary.begin_of_text(), end = vocabulary.end_of_text();
  CharacterBpe::Defaults defaults = {
      .kind = "SentencePiece BPE",
      .begin = begin ? begin : control_token_at(vocabulary, 1),
      .end = end ? end : control_token_at(vocabulary, 2),
      .adds_begin = vocabulary.adds_begin_of_text().value_or(true),
      .adds_end = vocabulary.adds_end_of_text().value_or(false),
  };
  MergeTable merges = list_merges(vocabulary, rank_scores(scores));
  return CharacterBpe::make(std::move(vocabulary), std::move(defaults), std::move(merges), adds_space);
}

}  // namespace tempo9::text
