// A compiled grammar: which tokens of one vocabulary may come next, at every place in a text. Threads: any
// number of matchers may share one.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "text/tokenizer.h"

namespace tempo9::grammar {

// A tokenizer's tokens in the library's order. Takes a while to make (0.1 s for 150,000 tokens); immutable.
class Vocabulary {
 public:
  // Tokens stand for the bytes that a reply shows of them. Control tokens stand for none: they are allowed
  // where a form names them and within free text. Those that end a reply are allowed where a text may end.
  static Result<std::shared_ptr<const Vocabulary>> make(const text::Tokenizer& tokenizer);
  ~Vocabulary();

  struct Body;
  const Body& body() const { return *body_; }

 private:
  explicit Vocabulary(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

class CompiledGrammar {
 public:
  // `tag`: what to_structural_tag() gives. In the caller's thread, for as long as it takes.
  static Result<std::shared_ptr<const CompiledGrammar>> compile(const Vocabulary& vocabulary,
                                                                const std::string& tag);
  ~CompiledGrammar();

  // Grows while it is used: what may come next at a place is found when a matcher first comes there.
  size_t memory_bytes() const;

  struct Body;
  const Body& body() const { return *body_; }

 private:
  explicit CompiledGrammar(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

// What compiling ends in, and who is told. Must not block or throw.
using Compiled = Result<std::shared_ptr<const CompiledGrammar>>;
using CompileDone = std::function<void(Compiled)>;

}  // namespace tempo9::grammar
