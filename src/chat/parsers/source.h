// What a parser reads: the text of one reply, byte by byte, as if it were all there. A parser is a coroutine
// that is suspended until the next byte has come, so its outcome cannot depend on how the text was cut.
// Threads: one at a time. A source owns the parser that it runs.
#pragma once
#include <coroutine>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace tempo9::chat {

class Source;

// Stands in front of the text of a control token, so that the same words written as plain text are told
// apart. No byte of UTF-8 has this value.
inline constexpr char kControlSign = '\xFF';

struct ReadingPromise {
  Source* source = nullptr;        // that runs it
  std::coroutine_handle<> caller;  // to go on when this has ended; none for the outermost
};

// A part of a parser: a coroutine that reads from a source and gives a T. It begins when it is awaited.
template <class T>
class [[nodiscard]] Reading {
 public:
  struct promise_type : ReadingPromise {
    T value{};
    Reading get_return_object() { return Reading(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept { return Ending{}; }
    void return_value(T result) { value = std::move(result); }
    void unhandled_exception() { std::terminate(); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  Reading(Reading&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Reading& operator=(Reading&&) = delete;
  ~Reading() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) noexcept;
  T await_resume() { return std::move(handle_.promise().value); }

 private:
  friend class Source;
  struct Ending {
    bool await_ready() noexcept { return false; }
    void await_suspend(Handle self) noexcept;
    void await_resume() noexcept {}
  };
  explicit Reading(Handle handle) : handle_(handle) {}
  Handle handle_;
};

class Source {
 public:
  static constexpr int kEnd = -1;

  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // Starts the parser, which may refer to this source; it reads to the end. Once, before any feed().
  void run(Reading<bool> parser);
  void feed(std::string_view text);
  // Nothing will follow. `cut`: the reply did not come to its own end.
  void finish(bool cut);
  bool ended() const { return ended_; }

  // For parsers. `co_await peek()` gives the next byte (0 to 255), which stays, or kEnd.
  struct Peek {
    Source& source;
    bool await_ready() const noexcept { return source.at_ < source.text_.size() || source.finished_; }
    void await_suspend(std::coroutine_handle<>) noexcept { source.waiting_ = true; }
    int await_resume() const noexcept {
      const int c = source.front();
      source.starved_ = source.starved_ || c == kEnd;
      return c;
    }
  };
  Peek peek() { return {*this}; }
  // Takes the byte that peek() has shown.
  void take();
  // Gives back the last `count` bytes taken, at most kKept.
  void give_back(size_t count);
  static constexpr size_t kKept = 256;
  bool cut() const { return cut_; }
  // Whether the end has been seen: what was to be read may have been right so far.
  bool starved() const { return starved_; }

  // All that has been taken since mark(), behind `before`.
  void mark(std::string_view before) { taken_ = before; }
  const std::string& taken() const { return taken_; }

 private:
  template <class T>
  friend class Reading;
  int front() const { return at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : kEnd; }
  void resume();

  std::string text_;  // what is to be read, from at_; some of what was read before it
  size_t at_ = 0;
  std::string taken_;
  bool finished_ = false, cut_ = false;
  bool waiting_ = false, ended_ = false, starved_ = false;
  std::coroutine_handle<> current_;
  Reading<bool> parser_{Reading<bool>::Handle{}};
};

template <class T>
template <class Promise>
void Reading<T>::await_suspend(std::coroutine_handle<Promise> caller) noexcept {
  Source* const source = caller.promise().source;
  handle_.promise().source = source;
  handle_.promise().caller = caller;
  source->current_ = handle_;
}

template <class T>
void Reading<T>::Ending::await_suspend(Handle self) noexcept {
  const ReadingPromise& promise = self.promise();
  promise.source->current_ = promise.caller;
  if (!promise.caller) promise.source->ended_ = true;
}

}  // namespace tempo9::chat
