#include "grammar/compiled.h"

#include <utility>

#include "grammar/compiled_body.h"

namespace tempo9::grammar {
namespace {

xgrammar::TokenizerInfo make_info(const text::Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  std::vector<int32_t> ends;
  texts.reserve(static_cast<size_t>(tokenizer.vocabulary_size()));
  for (TokenId token = 0; token < tokenizer.vocabulary_size(); ++token) {
    if (tokenizer.ends_generation(token)) ends.push_back(token);
    // The library never takes a token without text, not even where a grammar names it. No character has this
    // byte.
    if (tokenizer.is_control(token))
      texts.push_back("\xFF" + std::string(tokenizer.name(token)));
    else
      texts.emplace_back(tokenizer.bytes(token, false));
  }
  return xgrammar::TokenizerInfo(texts, xgrammar::VocabType::RAW, tokenizer.vocabulary_size(), ends);
}

xgrammar::CompiledGrammar compile_tag(const xgrammar::TokenizerInfo& info, const std::string& tag) {
  constexpr int kThreads = 1;     // the others compute
  constexpr bool kCache = false;  // ours has a bound
  constexpr int64_t kNoLimit = -1;
  constexpr bool kMasksWhenNeeded = true;
  xgrammar::GrammarCompiler compiler(info, kThreads, kCache, kNoLimit, kMasksWhenNeeded);
  return compiler.CompileStructuralTag(tag);
}

}  // namespace

Vocabulary::Vocabulary(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Vocabulary::~Vocabulary() = default;

Result<std::shared_ptr<const Vocabulary>> Vocabulary::make(const text::Tokenizer& tokenizer) {
  return without_exceptions(ErrorCode::kInternal, [&] {
    return std::shared_ptr<const Vocabulary>(
        new Vocabulary(std::make_unique<Body>(Body{make_info(tokenizer)})));
  });
}

CompiledGrammar::CompiledGrammar(std::unique_ptr<Body> body) : body_(std::move(body)) {}
CompiledGrammar::~CompiledGrammar() = default;

Result<std::shared_ptr<const CompiledGrammar>> CompiledGrammar::compile(const Vocabulary& vocabulary,
                                                                        const std::string& tag) {
  const xgrammar::TokenizerInfo& info = vocabulary.body().info;
  return without_exceptions(ErrorCode::kInvalidArgument, [&] {
    auto body = std::make_unique<Body>(Body{compile_tag(info, tag), info.GetVocabSize()});
    return std::shared_ptr<const CompiledGrammar>(new CompiledGrammar(std::move(body)));
  });
}

size_t CompiledGrammar::memory_bytes() const {
  return without_exceptions(ErrorCode::kInternal, [&] { return body_->grammar.MemorySizeBytes(); })
      .value_or(0);
}

}  // namespace tempo9::grammar
