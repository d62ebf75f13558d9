// The library's side of compiled.h, for the files of this room that call it. What it throws is caught there.
#pragma once
#include <xgrammar/xgrammar.h>

#include <exception>

#include "grammar/compiled.h"

namespace tempo9::grammar {

struct Vocabulary::Body {
  xgrammar::TokenizerInfo info;
};

struct CompiledGrammar::Body {
  xgrammar::CompiledGrammar grammar;
  int vocabulary_size;
};

// `call()`, or the error that its exception tells.
template <class Call>
auto without_exceptions(ErrorCode code, const Call& call) -> Result<decltype(call())> {
  try {
    return call();
  } catch (const std::exception& error) {
    return fail(code, "{}", error.what());
  }
}

}  // namespace tempo9::grammar
