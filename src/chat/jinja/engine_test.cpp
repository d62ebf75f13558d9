// What templates render to. The full comparison with Python's Jinja is tests/template_reference_test.py; here
// each part of the engine is shown once.
#include <gtest/gtest.h>

#include "chat/testing/render.h"

namespace tempo9::chat::jinja {
namespace {

using testing::render_text;
using Json = nlohmann::ordered_json;

const Json& variables() {
  static const Json json = {{"text", "Hello World"},
                            {"accents", "é漢👩x"},
                            {"numbers", {3, 1, 2}},
                            {"users", {{{"name", "Ann"}, {"age", 31}}, {{"name", "bob"}}}},
                            {"tool", {{"name", "f"}, {"items", 5}, {"z", nullptr}}},
                            {"big", 18446744073709551615u},
                            {"yes", true}};
  return json;
}

void expect(std::string_view source, std::string_view expected) {
  EXPECT_EQ(render_text(source, variables()), expected) << source;
}

TEST(EngineTest, WhiteSpaceAroundTags) {
  expect("a\n  {% if yes %}\n  b\n  {% endif %}\nc\n", "a\n  b\nc");
  expect("a {%- if yes -%} b {%- endif %} c", "ab c");
  expect("a\n  {%+ if yes +%}\nb{% endif %}", "a\n  \nb");
  expect("a {#- c -#} b{# d #}\ne", "abe");
  expect("{% raw %} {{ x }} {% endraw -%}\n y", " {{ x }} y");
  expect("a\r\nb{% if yes %}\r\nc{% endif %}", "a\nbc");
}

TEST(EngineTest, ValuesArePrintedAsPythonPrintsThem) {
  expect("{{ [none, true, 1.0, 1e16, 'it\\'s', 'q\"', {'a': (1,)}] }}",
         "[None, True, 1.0, 1e+16, \"it's\", 'q\"', {'a': (1,)}]");
  expect("{{ accents }} {{ ['\\u200b\\n'] }} {{ big }} {{ missing }}|",
         "é漢👩x ['\\u200b\\n'] 18446744073709551615 |");
}

TEST(EngineTest, OperatorsBindAsInJinja) {
  expect("{{ 1 + 2 * 3 ** 2 // 2 }} {{ -2 ** 2 }} {{ 7 // -2 }} {{ -7 % 3 }} {{ 6 / 3 }}", "10 4 -4 2 2.0");
  expect("{{ 1 < 2 < 3 != 4 }} {{ 'a' ~ 1 ~ none }} {{ not 1 == 2 and 'x' or 'y' }}", "True a1None x");
  expect("{{ 'y' if yes and text is string else 'n' }} {{ 2 in numbers }} {{ 'z' not in tool }}",
         "y True False");
  expect("{{ '%s:%03d' % ('a', 7) }} {{ 'ab' * 2 }} {{ [1] + [2] }}", "a:007 abab [1, 2]");
}

TEST(EngineTest, AttributesAndItemsFallBackToEachOther) {
  expect(
      "{{ tool.name }}{{ tool['name'] }} {{ tool.items is callable }} {{ tool['items'] }} {{ {}['keys'] is "
      "callable }}",
      "ff True 5 True");
  expect("{{ users[0].name }}{{ users.1.name }} {{ users[1].age is defined }} {{ numbers[9] }}|",
         "Annbob False |");
}

TEST(EngineTest, StringsAreSequencesOfCharacters) {
  expect(
      "{{ accents[1] }} {{ accents[::-1] }} {{ accents | length }} {{ accents[-2:] }} {{ accents.find('x') "
      "}}",
      "漢 x👩漢é 4 👩x 3");
  expect("{{ ' a b '.strip().split() }} {{ 'a-b-c'.rsplit('-', 1) }} {{ '{:>3}|{x}'.format(1, x=2) }}",
         "['a', 'b'] ['a-b', 'c']   1|2");
}

TEST(EngineTest, Filters) {
  expect("{{ numbers | sort | join(',') }} {{ users | map(attribute='name') | list }}",
         "1,2,3 ['Ann', 'bob']");
  expect(
      "{{ users | selectattr('age', 'defined') | map(attribute='name') | join }} {{ missing | default('d') "
      "}}",
      "Ann d");
  expect("{{ {'b': [1, none], 'a': 'é\"'} | tojson }}", R"({"b": [1, null], "a": "é\""})");
  expect("{{ {'a': [1]} | tojson(indent=2) }}", "{\n  \"a\": [\n    1\n  ]\n}");
  expect("{% filter upper | trim %} a {% endfilter %}", "A");
  expect("{{ ('<b>' | safe) + '<c>' }} {{ '<b>' | e }}", "<b>&lt;c&gt; &lt;b&gt;");
}

TEST(EngineTest, IteratorsAreReadOnce) {
  expect("{% set it = numbers | map('string') %}{{ it | list }}{{ it | list }}", "['3', '1', '2'][]");
  expect("{% if numbers | select('gt', 9) %}true{% endif %}", "true");
  expect("{{ [1, 'a'] | map('abs') | first }}", "1");  // the item that fails is never reached
}

TEST(EngineTest, Loops) {
  expect("{% for x in numbers %}{{ loop.index }}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}",
         "13,21,32");
  expect("{% for k, v in tool.items() %}{{ k }}={{ v }};{% endfor %}", "name=f;items=5;z=None;");
  expect("{% for x in numbers if x > 1 %}{{ x }}{{ loop.length }} {% else %}none{% endfor %}", "32 22 ");
  expect(
      "{% for x in range(9) %}{% if x == 1 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif "
      "%}{{ x }}{% endfor %}",
      "023");
  expect(
      "{% for t in [['a', ['b']], 'c'] recursive %}{{ loop.depth }}{{ t if t is string else loop(t) }};{% "
      "endfor %}",
      "12a;23b;;;1c;");
}

TEST(EngineTest, Scopes) {
  expect("{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}", "231");
  expect("{% set ns = namespace(n=0) %}{% for i in numbers %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
         "6");
  expect("{% set a, b = 1, 2 %}{% set s %}{{ a }}{{ b }}{% endset %}{{ s | length }}", "2");
  expect("{% with x = 5 %}{{ x }}{% endwith %}{{ x is defined }}", "5False");
  expect("{% if not yes %}{% set text = 1 %}{% endif %}{{ text }}", "Hello World");
}

TEST(EngineTest, Macros) {
  expect(
      "{% macro m(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, c=3) }} {{ m(*[7, 8]) "
      "}}",
      "121 123 787");
  expect("{% macro m() %}<{{ caller(1) }}>{% endmacro %}{% call(x) m() %}{{ x }}{{ text }}{% endcall %}",
         "<1Hello World>");
  expect("{% macro f(n) %}{{ n }}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", "3210");
  expect("{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, a=2) }}", "(1,){'a': 2}");
  expect("{% set x = 1 %}{% macro m() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ m() }}", "2");
}

TEST(EngineTest, GenerationIsOnlyAScope) {
  expect("{% generation %}{{ text }}{% set g = 1 %}{% endgeneration %}{{ g is defined }}",
         "Hello WorldFalse");
}

TEST(EngineTest, TheClockIsLocalTime) {
  const std::string year = render_text("{{ strftime_now('%Y') }}");
  EXPECT_EQ(year.size(), 4u);
  EXPECT_GE(year, "2024");
}

struct Refusal {
  std::string_view source, message;
};

class RefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, NamesTheLineAndTheReason) {
  EXPECT_EQ(render_text(GetParam().source, variables()), "error: " + std::string(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusalTest,
    ::testing::Values(
        Refusal{"a\n{% if yes %}", "line 2: the template ends before 'endif'"},
        Refusal{"a\n\n{{ 1 | nosuch }}", "line 3: no filter named 'nosuch'"},
        Refusal{"{{ 1 is nosuch }}", "line 1: no test named 'nosuch'"},
        Refusal{"{% if yes %}\n{{ 1 | nosuch }}{% endif %}", "line 2: no filter named 'nosuch'"},
        Refusal{"{% nosuch %}", "line 1: unknown statement 'nosuch'"},
        Refusal{"{% include 'x' %}", "line 1: the statement 'include' is not supported"},
        Refusal{"{{ 1 +\n }}", "line 2: an expression was expected, not the end of the print statement"},
        Refusal{"{{ 'a\n", "line 1: a string has no end"}, Refusal{"{{ ) }}", "line 1: unexpected ')'"},
        Refusal{"{{ ? }}", "line 1: unexpected character '?'"},
        Refusal{"{# x", "line 1: Missing end of comment tag"},
        Refusal{"{% break %}", "line 1: 'break' outside a loop"},
        Refusal{"{{ '\\x4' }}", "line 1: a hexadecimal escape is cut short"},
        Refusal{"x\n{{ missing.y }}", "line 2: 'missing' is undefined"},
        Refusal{"{{ tool.q.y }}", "line 1: 'dict object' has no attribute 'q'"},
        Refusal{"{{ text + 1 }}", "line 1: unsupported operand type(s) for +: 'str' and 'int'"},
        Refusal{"{{ numbers.append(4) }}", "line 1: access to attribute 'append' of 'list' object is unsafe"},
        Refusal{"{{ 1 / 0 }}", "line 1: division by zero"},
        Refusal{"{{ 2 ** 127 }}", "line 1: a number of the template does not fit 128 bits"},
        Refusal{"{{ missing | tojson }}", "line 1: Object of type Undefined is not JSON serializable"},
        Refusal{"{% macro m(a) %}{% endmacro %}\n{{ m(1, 2) }}",
                "line 2: macro 'm' takes not more than 1 argument(s)"},
        Refusal{"{% for a, b in [[1]] %}{% endfor %}",
                "line 1: not enough values to unpack (expected 2, got 1)"},
        Refusal{"{% set ns = 1 %}{% set ns.x = 1 %}",
                "line 1: cannot assign attribute on non-namespace object"},
        Refusal{"{% for x in numbers %}\n{{ raise_exception('no ' ~ x) }}{% endfor %}", "line 2: no 3"}));

TEST(EngineTest, BytesThatAreNotTextAreRefused) {
  EXPECT_EQ(render_text("a\xFF"), "error: the template is not valid UTF-8");
  EXPECT_EQ(render_text("{{ x }}", {{"x", "a\xFF"}}), "error: a text of the request is not valid UTF-8");
}

}  // namespace
}  // namespace tempo9::chat::jinja
