#include "base/trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tempo9 {
namespace {

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Trace, SpansAreThereAsSoonAsTheyEnd) {
  const std::string path = ::testing::TempDir() + "tempo9_trace_test.json";
  const auto trace = Trace::create(path).value();
  const Trace::Clock::time_point begin{std::chrono::milliseconds(5)};
  trace->name_row(3, "request 3");
  trace->span(3, "prompt", begin, begin + std::chrono::microseconds(70), {{"tokens", 12}, {"cached", 0}});
  EXPECT_EQ(
      contents(path),
      "[\n"
      R"({"ph":"M","pid":1,"tid":3,"name":"thread_name","args":{"name":"request 3"}},)"
      "\n"
      R"({"ph":"X","pid":1,"tid":3,"name":"prompt","ts":5000,"dur":70,"args":{"tokens":12,"cached":0}})");
}

TEST(Trace, APlaceThatCannotBeWrittenIsNamed) {
  const auto trace = Trace::create("/nowhere/at/all.json");
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().code, ErrorCode::kIo);
  EXPECT_NE(trace.error().message.find("/nowhere/at/all.json"), std::string::npos);
}

}  // namespace
}  // namespace tempo9
