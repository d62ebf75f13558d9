// What happened when, as a file in the Trace Event Format that chrome://tracing and ui.perfetto.dev show
// ("Trace Event Format", Google, 2016): spans in named rows. The file is complete after each span, but for a
// bracket that readers do not need. Threads: any.
#pragma once
#include <chrono>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace tempo9 {

class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  using Numbers = std::initializer_list<std::pair<std::string_view, int64_t>>;

  // Replaces what is there. kIo names the path.
  static Result<std::unique_ptr<Trace>> create(const std::string& path);

  void name_row(int row, std::string_view name);
  // Names and keys are ASCII without quotes.
  void span(int row, std::string_view name, Clock::time_point begin, Clock::time_point end,
            Numbers numbers = {});

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  explicit Trace(std::FILE* file) : file_(file) {}
  void write(std::string_view event);

  std::mutex mutex_;
  std::unique_ptr<std::FILE, Close> file_;
  bool first_ = true;
};

}  // namespace tempo9
