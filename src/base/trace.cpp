#include "base/trace.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iterator>

namespace tempo9 {
namespace {

int64_t microseconds(Trace::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

}  // namespace

Result<std::unique_ptr<Trace>> Trace::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr)
    return fail(ErrorCode::kIo, "cannot write the trace '{}': {}", path, std::strerror(errno));
  return std::unique_ptr<Trace>(new Trace(file));
}

void Trace::name_row(int row, std::string_view name) {
  write(
      fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})", row, name));
}

void Trace::span(int row, std::string_view name, Clock::time_point begin, Clock::time_point end,
                 Numbers numbers) {
  std::string args;
  for (const auto& [key, value] : numbers)
    fmt::format_to(std::back_inserter(args), R"({}"{}":{})", args.empty() ? "" : ",", key, value);
  write(fmt::format(R"({{"ph":"X","pid":1,"tid":{},"name":"{}","ts":{},"dur":{},"args":{{{}}}}})", row, name,
                    microseconds(begin.time_since_epoch()), microseconds(end - begin), args));
}

void Trace::write(std::string_view event) {
  const std::lock_guard lock(mutex_);
  std::fprintf(file_.get(), "%s\n%.*s", first_ ? "[" : ",", static_cast<int>(event.size()), event.data());
  std::fflush(file_.get());
  first_ = false;
}

}  // namespace tempo9
