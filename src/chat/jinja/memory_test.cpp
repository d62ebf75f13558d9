// Whatever a template does, rendering it takes little more memory than the limit says.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "chat/testing/render.h"

namespace {
// Bytes that the program has allocated and not freed, and the most there have been since the last reset. One
// thread.
size_t live = 0, peak = 0;

// In front of every block, for its size; as large as the allocator's own header and what it rounds up by.
constexpr size_t kHeader = 16;
}  // namespace

// Not inlined: the compiler would compare malloc here with the delete it knows.
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  void* const block = std::malloc(bytes + kHeader);
  if (block == nullptr) return nullptr;
  std::memcpy(block, &bytes, sizeof(bytes));
  live += bytes + kHeader;
  peak = std::max(peak, live);
  return static_cast<char*>(block) + kHeader;
}
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  void* const block = static_cast<char*>(memory) - kHeader;
  size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof(bytes));
  live -= bytes + kHeader;
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  operator delete(memory);
}

namespace tempo9::chat::jinja {
namespace {

using Json = nlohmann::ordered_json;

// A sixteenth of what a server allows, to be quick.
constexpr size_t kLimit = limits::kMaxTemplateMemoryBytes / 16;
// What no meter counts: the rest of allocations beside their bytes, short-lived texts of a bounded size.
constexpr size_t kMost = kLimit + kLimit / 2;
constexpr size_t kSteps = limits::kMaxTemplateSteps / 16;

// Whether it ends with a text or a refusal does not matter here. Parsing is not counted.
size_t peak_of(const std::string& source, const Json& variables) {
  const Result<Template> parsed = Template::parse(source);
  if (!parsed) {
    ADD_FAILURE() << source.substr(0, 200) << "\n" << parsed.error().message;
    return 0;
  }
  const size_t before = live;
  peak = live;
  {
    Runtime runtime(kSteps, kLimit);
    const Result<Value> values = from_json(runtime, variables);
    if (values) static_cast<void>(parsed->render(runtime, *values));
  }
  constexpr size_t kTables = 1 << 16;  // which are made once and stay
  EXPECT_LE(live, before + kTables) << "left behind by " << source.substr(0, 200);
  return peak - before;
}

void expect_bounded(const std::string& source, const Json& variables = Json::object()) {
  const auto start = std::chrono::steady_clock::now();
  const size_t bytes = peak_of(source, variables);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LE(bytes, kMost) << source.substr(0, 200);
  const double share = static_cast<double>(bytes) / static_cast<double>(kLimit);
  std::printf("%5.2f of the limit, %5.2f s  %s\n", share, seconds, source.substr(0, 100).c_str());
}

const std::string kLoop = "{% for a in range(100000) %}{% for b in range(100000) %}";
const std::string kEnd = "{% endfor %}{% endfor %}";

// A statement that makes `ns.s` grow, again and again.
std::string grow(std::string_view start, std::string_view next) {
  return fmt::format(
      "{{% set ns = namespace(s={}) %}}{{% for i in range(1000) %}}{{% set ns.s = {} %}}{{% endfor %}}",
      start, next);
}

std::string repeat(std::string_view text, size_t times) {
  std::string repeated;
  for (size_t i = 0; i < times; ++i) repeated += text;
  return repeated;
}

TEST(MemoryTest, OneLongText) {
  expect_bounded("{% set s = 'x' * 16750000 %}");
  expect_bounded("{{ 'ab' * 3750000 }}");
  expect_bounded(grow("'ab'", "ns.s ~ ns.s"));
  expect_bounded(grow("'ab'", "ns.s + ns.s"));
  expect_bounded(grow("'ab'", "ns.s ~ 'xy' * 62500"));
  expect_bounded(grow("'aa'", "ns.s.replace('a', 'aa')"));
  expect_bounded(grow("'aa'", "ns.s | replace('a', 'aaa')"));
  expect_bounded(grow("'aa'", "[ns.s, ns.s, ns.s] | join(ns.s)"));
  expect_bounded(grow("'aa'", "ns.s.join([ns.s, ns.s])"));
  expect_bounded(grow("'aa'", "'%s%s' % (ns.s, ns.s)"));
  expect_bounded(grow("'aa'", "'{0}{0}{0}'.format(ns.s)"));
  expect_bounded(grow("'a\\n'", "ns.s | indent(100) ~ ns.s"));
  expect_bounded(grow("'<'", "(ns.s ~ ns.s) | forceescape | string"));
  expect_bounded(grow("'a'", "ns.s | safe + '<' * 62500"));
  expect_bounded("{{ (['x' * 1000] * 100000) | join('y' * 1000) }}");
  expect_bounded("{% set s = 'ab' * 312500 %}{{ s.replace('', 'x' * 16) | length }}");
  expect_bounded("{% set t %}" + kLoop + "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" + kEnd +
                 "{% endset %}");
}

TEST(MemoryTest, WidthsAndPrecisions) {
  for (const char* source :
       {"{{ '%*d' % (16250000, 1) }}", "{{ '%.60000000f' % 1.5 }}", "{{ '%.200000000f' % 1.5 }}",
        "{{ '%250000000s' % 'x' }}", "{{ '{:>7500000}'.format(1) }}", "{{ '{:é^7500000}'.format('x') }}",
        "{{ '%.100000000d' % 1 }}", "{{ 'x'.center(8125000) }}", "{{ 'x'.ljust(3750000, '漢') }}",
        "{{ '1'.zfill(8125000) }}", "{{ '\\t'.expandtabs(7500000) }}",
        "{{ ('\\t' * 62500).expandtabs(1000) }}", "{{ [1, [2]] | tojson(indent=7500000) }}",
        "{{ [1, 2] | tojson(separators=('x' * 5625000, 'y')) }}",
        "{{ ('{0:{1}}' * 1000).format(1, 62500) }}"})
    expect_bounded(source);
}

TEST(MemoryTest, TextsThatAreChanged) {
  for (const char* change : {"s | upper",
                             "s | lower",
                             "s | title",
                             "s | capitalize",
                             "s.swapcase()",
                             "s.title()",
                             "s | reverse",
                             "s | list",
                             "s.split('a')",
                             "s.split()",
                             "s.rsplit('a')",
                             "s.splitlines()",
                             "s | urlencode",
                             "s | e",
                             "s | tojson",
                             "s | tojson(ensure_ascii=true)",
                             "[s] | string",
                             "[s, s] | string",
                             "s[::-1]",
                             "s[::2]",
                             "s.partition('zz')",
                             "s.rpartition('zz' * 100)",
                             "s.rfind('z' * 100)",
                             "s.strip('xyz' ~ s)",
                             "s | wordcount",
                             "s | truncate(624999)",
                             "s | map('upper') | list",
                             "s | batch(1) | list",
                             "s | unique | list",
                             "s | sort | length",
                             "s.encode",
                             "[s, s] | sort",
                             "s | groupby(0)",
                             "{s: s}[s]",
                             "s in s",
                             "s | format(1)",
                             "s % 1",
                             "s.format(1)",
                             "x[s]",
                             "[x[s], x[s], x[s], x[s]]",
                             "dict(**{s: 1})",
                             "[1] | map(s) | list",
                             "raise_exception(s)"}) {
    for (const char* text : {"'a' * 7500000", "'ab\\n' * 750000", "'ΐ' * 1250000", "'\\x01' * 1875000",
                             "'é ' * 250000", "'<' * 1562500"})
      expect_bounded(
          fmt::format("{{% set x = {{}} %}}{{% set s = {} %}}{{{{ ({}) is none }}}}", text, change));
  }
}

TEST(MemoryTest, ListsAndDicts) {
  expect_bounded("{{ ([1] * 500000) is none }}");
  expect_bounded("{% set l = [1] * 187500 %}{{ (l | list | map('abs') | list) is none }}");
  expect_bounded(grow("[1]", "ns.s + ns.s"));
  expect_bounded(grow("[1]", "ns.s * 2"));
  expect_bounded(grow("(1,)", "ns.s + ns.s"));
  expect_bounded(grow("[]", "[ns.s, range(1000) | list, {'a': i}]"));
  expect_bounded("{% set ns = namespace(s=[]) %}" + kLoop + "{% set ns.s = ns.s + [a] %}" + kEnd);
  expect_bounded("{% set ns = namespace(s={}) %}" + kLoop + "{% set ns.s = {'k': ns.s, b: a} %}" + kEnd);
  expect_bounded(
      "{% set ns = namespace(s=[]) %}{% for a in range(1000) %}{% set ns.s = ns.s + [range(10000) | "
      "map('string') | list] %}{% endfor %}");
  for (const char* change : {"l | sort",
                             "l | sort(attribute='a')",
                             "l | groupby('a')",
                             "l | unique | list",
                             "l | reverse | list",
                             "l | batch(3) | list",
                             "l | batch(1) | list",
                             "l | slice(3) | list",
                             "l | slice(90000) | list",
                             "l[::-1]",
                             "l | map('string') | list",
                             "l | map('list') | list",
                             "l | select | list",
                             "l | join",
                             "l | string",
                             "l | tojson",
                             "dict(l)",
                             "l | sum",
                             "l | max",
                             "l | urlencode",
                             "l | map(attribute='a') | list",
                             "l | map('upper') | map('lower') | list",
                             "l | map('tojson') | list",
                             "l + l + l",
                             "'%s' % (l,)",
                             "range(100000) | map('batch', 1) | list",
                             "l | items | list",
                             "[l] * 1000",
                             "l | map(*l) | list"}) {
    for (const char* list :
         {"range(100000) | list", "['x', 'y', 'z'] * 500000", "[(1, 'x')] * 62500", "[[1]] * 62500"})
      expect_bounded(fmt::format("{{% set l = ({}) %}}{{{{ ({}) is none }}}}", list, change));
  }
}

TEST(MemoryTest, ManySmallThings) {
  for (const char* thing : {"range(1)",
                            "namespace()",
                            "namespace(a=1, b=2, c=3, d=4, e=5, f=6, g=7)",
                            "{}",
                            "[]",
                            "()",
                            "{1: 2}",
                            "'x' ~ a",
                            "'x' * 20",
                            "nothing.a | default(b)",
                            "missing",
                            "x.missing",
                            "'a'.upper",
                            "{}.items()",
                            "[1] | reverse",
                            "[1] | map('abs')",
                            "[1] | map('none such')",
                            "cycle",
                            "loop.cycle",
                            "loop",
                            "joiner",
                            "m",
                            "1.5",
                            "(1, 2)"}) {
    const std::string start = "{% set x = {} %}{% macro m() %}{% endmacro %}{% set ns = namespace(s=[]) %}";
    expect_bounded(start + kLoop + "{% set ns.s = (ns.s, " + thing + ") if b % 100 else [ns.s] %}" + kEnd);
    expect_bounded(
        fmt::format("{}{{% for a in range(100000) %}}{{% for b in [[{}]] %}}{{% set ns.s = ns.s + b %}}"
                    "{{% endfor %}}{{% endfor %}}",
                    start, repeat(std::string(thing) + ", ", 1000)));
  }
  expect_bounded(
      "{% for a in range(100000) %}{% for b in range(1000) %}{% macro m() %}{{ a }}{% endmacro %}{{ m() }}" +
      kEnd);
}

// What waits for something within it to be computed.
TEST(MemoryTest, ValuesThatWait) {
  const std::string text = "'x' * 1875000";
  expect_bounded("{{ " + repeat(text + " ~ (", 100) + "''" + repeat(")", 100) + " }}");
  expect_bounded("{{ " + repeat("[" + text + ", ", 100) + "1" + repeat("]", 100) + " is none }}");
  expect_bounded(
      "{% macro m(n) %}{{ 'x' * 312500 }}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(90) }}");
  expect_bounded(
      "{% macro m(n) %}{% set t = 'x' * 312500 %}{{ t ~ m(n - 1) ~ t if n }}{% endmacro %}{{ m(60) }}");
  expect_bounded("{% macro m(n) %}{{ n }}{% endmacro %}{% set l = [1] * 125000 %}{{ " +
                 repeat("m(*l, x=m(", 50) + "1" + repeat("))", 50) + " }}");
  expect_bounded(
      "{% set l = [1] * 125000 %}{% macro m(n) %}{{ k(*l, n=n) }}{% endmacro %}{% macro k(n) %}"
      "{{ varargs | length }}{{ m(n - 1) if n }}{% endmacro %}{{ m(50) }}");
  expect_bounded(repeat("{% filter upper %}" + std::string("{{ 'x' * 562500 }}"), 50) +
                 repeat("{% endfilter %}", 50));
  expect_bounded(repeat("{% set s %}" + std::string("{{ 'x' * 562500 }}"), 50) + repeat("{% endset %}", 50));
  expect_bounded(repeat("{% for a in 'x' * 562500 %}{{ loop.changed(*([1] * 62500)) }}", 20) +
                 repeat("{% endfor %}", 20));
  expect_bounded(repeat("{% for a in [1] * 62500 if a %}{{ loop.length }}", 20) + repeat("{% endfor %}", 20));
  expect_bounded("{% for a in [1, 1] recursive %}{{ 'x' * 312500 }}{{ loop([1, 1]) }}{% endfor %}");
  expect_bounded("{% macro m() %}{{ caller() }}{{ caller() }}{% endmacro %}" + repeat("{% call m() %}", 30) +
                 "xxxxxxxxxxxxxxxx" + repeat("{% endcall %}", 30));
}

// Texts of the request carry marks, which take more than the bytes where the two alternate.
TEST(MemoryTest, Marks) {
  const Json variables = {{"c", "y"}, {"long", std::string(1 << 20, 'y')}};
  expect_bounded("{% set s = (c ~ 'x') * 625000 %}", variables);
  expect_bounded("{{ (c ~ 'x') * 625000 }}", variables);
  expect_bounded(grow("c ~ 'x'", "ns.s ~ ns.s"), variables);
  expect_bounded("{{ ('x' * 312500).replace('x', c ~ 'z') }}", variables);
  expect_bounded("{{ ([c] * 312500) | join('x') }}", variables);
  expect_bounded("{{ (long | list) | join('x') }}", variables);
  expect_bounded(kLoop + "{{ c }}x" + kEnd, variables);
  expect_bounded("{{ 'x'.ljust(312500, c ~ '') }}", variables);
}

// Shared a thousand times in memory, but not in what is written.
TEST(MemoryTest, SharedStructures) {
  const std::string dag = grow("['x' * 100]", "[ns.s, ns.s] if i < 14 else ns.s");
  for (const char* use :
       {"ns.s | tojson", "ns.s | string", "ns.s | tojson(indent=2)", "'%r' % (ns.s,)", "ns.s == ns.s"})
    expect_bounded(dag + "{{ (" + use + ") is none }}");
  expect_bounded(grow("{'k': 'x' * 100}", "{'a': ns.s, 'b': ns.s} if i < 14 else ns.s") +
                 "{{ (ns.s | tojson(sort_keys=true)) is none }}");
}

TEST(MemoryTest, RequestsOfManyValues) {
  Json many = Json::array();
  for (int i = 0; i < 200'000; ++i) many.push_back(i);
  expect_bounded("{{ x | length }}", {{"x", many}});
  expect_bounded("{{ x | length }}", {{"x", {many, many, many, many}}});
  Json objects = Json::array();
  for (int i = 0; i < 25'000; ++i) objects.push_back({{"k", "v"}});
  expect_bounded("{{ x | length }}", {{"x", {objects, objects, objects, objects}}});
}

}  // namespace
}  // namespace tempo9::chat::jinja
