// Forms to compiled grammars, one after another on a thread of its own, within a time limit; those used last
// are kept. Threads: any.
//
// The library cannot be interrupted. A grammar that takes too long is answered with an error in time and left
// to end on its own; only so many may be left at once, and sizes are bounded before the library sees them, so
// each ends.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/limits.h"
#include "grammar/compiled.h"
#include "grammar/form.h"
#include "grammar/structural_tag.h"

namespace tempo9::grammar {

class Compiler {
 public:
  // `tokenizer` must outlive the compiler. Nothing is made of it before the first form.
  explicit Compiler(const text::Tokenizer& tokenizer,
                    std::chrono::milliseconds time_limit = std::chrono::seconds(limits::kGrammarSeconds),
                    size_t cache_bytes = limits::kMaxGrammarCacheBytes);
  // Waits for what is being compiled; what waits is answered with kCancelled.
  ~Compiler();

  // Calls `done` once: here, if the grammar is known or cannot be written; else from another thread.
  // kInvalidArgument and kUnsupported name what of the form is wrong, kInvalidArgument also says when it
  // takes too long; kBusy: too many wait.
  void compile(const Form& form, CompileDone done);

  size_t cached_bytes() const;

 private:
  struct Task;  // of the library, on a thread of its own
  struct Job {
    std::string tag, subject;
    std::vector<CompileDone> done;
  };
  struct Entry {
    std::string tag;
    std::shared_ptr<const CompiledGrammar> grammar;
  };

  void work();
  Compiled run(const Job& job);
  void reap(bool wait);
  void answer(Job job, const Compiled& result);
  std::shared_ptr<const CompiledGrammar> find(const std::string& tag);
  void keep(const std::string& tag, std::shared_ptr<const CompiledGrammar> grammar);

  const text::Tokenizer& tokenizer_;
  const std::chrono::milliseconds time_limit_;
  const size_t cache_bytes_;
  ControlTokens controls_;
  std::shared_ptr<const Vocabulary> vocabulary_;  // the worker's own, like the next
  std::list<std::shared_ptr<Task>> late_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Job> jobs_;    // the first is being compiled
  std::list<Entry> cache_;  // used last first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_tag_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tempo9::grammar
