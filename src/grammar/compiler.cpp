#include "grammar/compiler.h"

#include <algorithm>
#include <utility>

#include "base/thread_priority.h"
#include "grammar/client_grammars.h"

namespace tempo9::grammar {
namespace {

// Whose grammar a form is about; a sequence of several is named by the first that has a name.
std::string subject_of(const Form& form) {
  if (!form.subject.empty()) return form.subject;
  for (const Form& part : form.parts)
    if (std::string subject = subject_of(part); !subject.empty()) return subject;
  return {};
}

Compiled compile_tag(const Vocabulary& vocabulary, const std::string& tag, const std::string& subject) {
  TRY_ASSIGN(const std::string read, read_client_grammars(tag));
  Compiled compiled = CompiledGrammar::compile(vocabulary, read);
  if (compiled) return compiled;
  return fail(compiled.error().code, "{}: {}", subject, compiled.error().message);
}

}  // namespace

// Shared with its thread, which may go on when nobody waits any more.
struct Compiler::Task {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Compiled> result;
  std::thread thread;

  bool ended() {
    const std::lock_guard lock(mutex);
    return result.has_value();
  }
};

Compiler::Compiler(const text::Tokenizer& tokenizer, std::chrono::milliseconds time_limit, size_t cache_bytes)
    : tokenizer_(tokenizer), time_limit_(time_limit), cache_bytes_(cache_bytes) {
  for (TokenId token = 0; token < tokenizer.vocabulary_size(); ++token)
    if (tokenizer.is_control(token)) controls_.emplace(tokenizer.name(token), token);
  thread_ = std::thread([this] { work(); });
}

Compiler::~Compiler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Compiler::compile(const Form& form, CompileDone done) {
  Result<std::string> tag = to_structural_tag(form, controls_);
  if (!tag) return done(tl::unexpected<Error>(std::move(tag).error()));
  std::unique_lock lock(mutex_);
  if (auto known = find(*tag)) {
    lock.unlock();
    return done(std::move(known));
  }
  const auto same = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.tag == *tag; });
  if (same != jobs_.end()) {
    same->done.push_back(std::move(done));
    return;
  }
  if (jobs_.size() >= static_cast<size_t>(limits::kMaxQueuedGrammars) || stopping_) {
    lock.unlock();
    return done(fail(ErrorCode::kBusy, "too many schemas and grammars wait to be compiled"));
  }
  jobs_.push_back({*std::move(tag), subject_of(form), {}});
  jobs_.back().done.push_back(std::move(done));
  lock.unlock();
  changed_.notify_all();
}

void Compiler::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) break;
    const Job& job = jobs_.front();  // stays where it is, so that others can join it
    lock.unlock();
    const Compiled result = run(job);
    lock.lock();
    if (result) keep(job.tag, *result);
    Job ended = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    answer(std::move(ended), result);
    lock.lock();
  }
  std::deque<Job> rest = std::exchange(jobs_, {});
  lock.unlock();
  for (Job& job : rest) answer(std::move(job), fail(ErrorCode::kCancelled, "the server is shutting down"));
  reap(true);
}

void Compiler::answer(Job job, const Compiled& result) {
  for (const CompileDone& done : job.done) done(result);
}

Compiled Compiler::run(const Job& job) {
  reap(false);
  if (late_.size() >= static_cast<size_t>(limits::kMaxLateGrammars))
    return fail(ErrorCode::kBusy, "grammars that take too long are still being compiled; try again later");
  if (vocabulary_ == nullptr) {
    TRY_ASSIGN(vocabulary_, Vocabulary::make(tokenizer_));
  }
  auto task = std::make_shared<Task>();
  task->thread = std::thread([task, vocabulary = vocabulary_, tag = job.tag, subject = job.subject] {
    lower_thread_priority();  // running replies come first
    Compiled result = compile_tag(*vocabulary, tag, subject);
    const std::lock_guard lock(task->mutex);
    task->result = std::move(result);
    task->changed.notify_all();
  });
  std::unique_lock lock(task->mutex);
  if (!task->changed.wait_for(lock, time_limit_, [&] { return task->result.has_value(); })) {
    lock.unlock();
    late_.push_back(std::move(task));
    return fail(ErrorCode::kInvalidArgument, "{}: it takes more than {} seconds to compile", job.subject,
                std::chrono::duration<double>(time_limit_).count());
  }
  lock.unlock();
  task->thread.join();
  return *std::move(task->result);
}

void Compiler::reap(bool wait) {
  std::erase_if(late_, [&](const std::shared_ptr<Task>& task) {
    if (!wait && !task->ended()) return false;
    task->thread.join();
    return true;
  });
}

std::shared_ptr<const CompiledGrammar> Compiler::find(const std::string& tag) {
  const auto found = by_tag_.find(tag);
  if (found == by_tag_.end()) return nullptr;
  cache_.splice(cache_.begin(), cache_, found->second);
  return found->second->grammar;
}

void Compiler::keep(const std::string& tag, std::shared_ptr<const CompiledGrammar> grammar) {
  cache_.push_front({tag, std::move(grammar)});
  by_tag_.emplace(cache_.front().tag, cache_.begin());
  size_t bytes = 0;
  for (auto entry = cache_.begin(); entry != cache_.end();) {
    bytes += entry->tag.size() + entry->grammar->memory_bytes();
    if (bytes > cache_bytes_ && entry != cache_.begin()) {
      by_tag_.erase(entry->tag);
      entry = cache_.erase(entry);
    } else {
      ++entry;
    }
  }
}

size_t Compiler::cached_bytes() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const Entry& entry : cache_) bytes += entry.tag.size() + entry.grammar->memory_bytes();
  return bytes;
}

}  // namespace tempo9::grammar
