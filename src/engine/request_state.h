// What the engine knows of one request. Threads: made by any, then the engine's.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "grammar/matcher.h"
#include "kv/kv_cache.h"

namespace tempo9::engine {

struct RequestState {
  RequestState(RequestId number, Request r, std::shared_ptr<EventSink> s, int most_tokens);

  RequestId id;
  std::shared_ptr<EventSink> sink;
  sample::Sampler sampler;
  std::vector<TokenId> tokens;  // known: the prompt, then the reply
  int prompt_tokens;
  int computed = 0;  // tokens whose keys and values are in pages
  int limit;         // tokens at most
  kv::Sequence pages;
  // Positions at which others may want to continue, ascending: there states are saved, and pages become
  // findable before they are full.
  std::vector<int> save_points;
  // While waiting: the running request that is computing what this one needs too, and how many tokens that
  // is.
  RequestId leader = 0;
  int shared = 0;
  std::optional<Pooler> pooler;             // instead of a reply
  std::optional<grammar::Matcher> matcher;  // where the reply is in its grammar, if it has one
  grammar::TokenMask allowed;               // for the row that is being computed
  Error failure;                            // why the reply cannot go on
  bool admitted_before = false, restarted = false;
  Usage usage;
  std::chrono::steady_clock::time_point submitted, started, first_token, last_token;

  bool embeds() const { return pooler.has_value(); }
  int known() const { return static_cast<int>(tokens.size()); }
  int missing() const { return known() - computed; }
  // One row behind: the next token of a reply, or the last of a prompt.
  bool continues() const { return missing() == 1; }
  void add_save_point(int position);
};

}  // namespace tempo9::engine
