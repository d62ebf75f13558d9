// Templates that mean harm stop at a limit that the message names.
#include <gtest/gtest.h>

#include <string>

#include "chat/testing/render.h"

namespace tempo9::chat::jinja {
namespace {

using testing::render_text;

std::string repeat(std::string_view text, size_t times) {
  std::string repeated;
  for (size_t i = 0; i < times; ++i) repeated += text;
  return repeated;
}

void expect_refusal(const std::string& source, std::string_view reason) {
  const std::string text = render_text(source);
  EXPECT_TRUE(text.starts_with("error: ") && text.find(reason) != std::string::npos)
      << source.substr(0, 200) << "\n-> " << text.substr(0, 200);
}

// With fewer steps than a server allows, to be quick.
void expect_endless(const std::string& source) {
  const Result<Text> text = testing::render(source, nlohmann::ordered_json::object(), 500'000);
  ASSERT_FALSE(text) << source.substr(0, 200);
  EXPECT_EQ(text.error().message, "line 1: the template needs more than 500000 steps")
      << source.substr(0, 200);
}

TEST(LimitsTest, EndlessLoops) {
  const std::string loop = "{% for a in range(100000) %}{% for b in range(100000) %}";
  const std::string end = "{% endfor %}{% endfor %}";
  expect_endless(loop + end);
  expect_endless(loop + "{{ a * b }}" + end);
  expect_endless("{% set s = 'x' * 1000000 %}{% set t = s ~ '' %}" + loop + "{{ s == t }}" + end);
  expect_endless("{% set s = 'x' * 1000000 %}" + loop + "{% if s.find('y') > 0 %}{% endif %}" + end);
  expect_endless("{% set s = range(100000) | list %}" + loop + "{% if -1 in s %}{% endif %}" + end);
  expect_refusal("{{ range(100001) | list }}", "Range too big");
}

TEST(LimitsTest, DeepRecursion) {
  expect_refusal("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "deeper than");
  expect_refusal(
      "{% macro a() %}{% call b() %}{% endcall %}{% endmacro %}{% macro b() %}{{ caller() }}{{ a() }}{% "
      "endmacro %}{{ a() }}",
      "deeper than");
  expect_refusal("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "deeper than");
}

// Refused for one reason or another; which one depends on where the nesting stands.
TEST(LimitsTest, DeepSource) {
  for (const auto& [open, close] :
       {std::pair("(", ")"), std::pair("[", "]"), std::pair("{1:", "}"), std::pair("-", ""),
        std::pair("not ", ""), std::pair("f(", ")"), std::pair("1 if 1 else ", "")}) {
    expect_refusal("{{ " + repeat(open, 100000) + "1" + repeat(close, 100000) + " }}", "");
  }
  for (const std::string_view chain : {" + 1", ".x", "[0]", "|abs", "()", " is none", " ** 1", " if 1"}) {
    expect_refusal("{{ 1" + repeat(chain, 100000) + " }}", "");
  }
  expect_refusal(repeat("{% if 1 %}", 10000), "");
  expect_refusal("{% for " + repeat("(", 100000), "");
  EXPECT_EQ(render_text("{{ 1" + repeat(" ~ 1", 1000) + " }}"), repeat("1", 1001));
  expect_refusal(std::string(limits::kMaxTemplateSourceBytes + 1, 'x'), "longer than");
}

TEST(LimitsTest, ManyNames) {
  std::string names;  // 50,000 of them, which must not be compared each with each
  for (int i = 0; i < 50000; ++i) names += fmt::format("{}a{}=1", i == 0 ? "" : ",", i);
  EXPECT_EQ(render_text("{{ dict(" + names + ") | length }}"), "50000");
  EXPECT_EQ(render_text("{% macro m(" + names + ") %}x{% endmacro %}{{ m() }}"), "x");
  expect_refusal("{% macro m(" + names + ") %}{% endmacro %}{{ m(" + names + ") }}", "steps");
}

TEST(LimitsTest, HugeStrings) {
  expect_refusal("{{ 'x' * 10 ** 12 }}", "memory");
  expect_refusal("{{ '%*d' % (10 ** 12, 1) }}", "out of range");
  expect_refusal("{{ '{:1000000000}'.format('') }}", "Too many decimal digits");
  expect_refusal("{{ 'x'.center(10 ** 12) }}", "memory");
  expect_refusal("{{ 'x'.zfill(10 ** 30) }}", "memory");
  expect_refusal("{{ '\t'.expandtabs(10 ** 30) }}", "memory");
  expect_refusal("{{ ('x' * 100000).replace('x', 'y' * 100000) }}", "memory");
  expect_refusal("{{ ('y' * 100000).join('x' * 100000) }}", "memory");
  expect_refusal("{{ ['x' * 100000] * 100000 }}", "larger than");
  expect_refusal("{{ 1 | tojson(indent=10 ** 12) }}", "memory");
  expect_refusal("{{ ('\n' * 100000) | indent('x' * 100000, blank=true) }}", "memory");
  // Of steps or of memory, whichever is used up first.
  expect_refusal(
      "{% set ns = namespace(s='x') %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
      "needs more than");
  expect_refusal("{% set s = 'x' * 1000000 %}{% for i in range(1000) %}{{ s }}{% endfor %}",
                 "writes more than");
  expect_refusal("{{ (' ' * 4000000).split(' ') }}", "memory");
}

// Each of these walks over a long text again and again: a step must stand for little of it.
TEST(LimitsTest, LongTexts) {
  const std::string loop = "{% for a in range(100000) %}{% for b in range(100000) %}";
  const std::string end = "{% endfor %}{% endfor %}";
  expect_endless("{% set s = 'a' * 1000000 %}{% set p = 'a' * 500000 + 'b' %}" + loop + "{{ s.find(p) }}" +
                 end);
  expect_endless("{% set s = 'ß' * 500000 %}" + loop + "{% set t = s.upper() %}" + end);
  expect_endless(loop + "{% set t = 'x'.ljust(100000) %}" + end);
  expect_endless("{% set s = range(100000) | list %}" + loop + "{% set t = s[::-1] %}" + end);
  // As many characters to strip as there are characters.
  EXPECT_EQ(render_text("{{ ('ab' * 200000).strip('xyz' * 200000 ~ 'ab') | length }}"), "0");
}

TEST(LimitsTest, HugeLists) {
  expect_refusal("{{ [1] * 10 ** 12 }}", "memory");
  expect_refusal(
      "{% set ns = namespace(l=[1]) %}{% for i in range(100) %}{% set ns.l = ns.l + ns.l %}{% endfor %}",
      "memory");
  expect_refusal("{{ [1] | batch(10 ** 12, 0) | list }}", "memory");
  expect_refusal("{{ [1] | slice(10 ** 12) | list }}", "slices");
}

TEST(LimitsTest, NestedValues) {
  expect_refusal(
      "{% set ns = namespace(l=[]) %}{% for i in range(100000) %}{% set ns.l = [ns.l] %}{% endfor %}",
      "nested deeper");
  expect_refusal(
      "{% set ns = namespace(l={}) %}{% for i in range(100000) %}{% set ns.l = {1: ns.l}.items() %}{% endfor "
      "%}",
      "nested deeper");
  // Each level refers twice to the one below: small in memory, endless to walk over.
  expect_refusal(
      "{% set ns = namespace(l=['x']) %}{% for i in range(100) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ "
      "ns.l }}",
      "larger than");
}

TEST(LimitsTest, CircularReferencesAreFreed) {
  EXPECT_EQ(render_text("{% set ns = namespace() %}{% set ns.self = ns %}{% set ns.list = [ns] %}{{ "
                        "ns.self.self.list | length }}"),
            "1");
  EXPECT_EQ(
      render_text(
          "{% macro outer(m) %}{% macro inner() %}{{ m is defined }}{% endmacro %}{% set ns.f = inner %}{{ "
          "inner() }}"
          "{% endmacro %}{% set ns = namespace(f=1) %}{% for i in range(3) %}{{ outer(ns.f) }}{% endfor %}"),
      "TrueTrueTrue");
}

TEST(LimitsTest, DeepJsonOfARequest) {
  nlohmann::ordered_json json = 1;
  for (int i = 0; i < limits::kMaxTemplateValueDepth + 1; ++i) json = nlohmann::ordered_json::array({json});
  EXPECT_EQ(render_text("{{ x }}", {{"x", json}}).substr(0, 40), "error: JSON of the request is nested dee");
}

}  // namespace
}  // namespace tempo9::chat::jinja
