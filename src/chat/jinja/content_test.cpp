// Which bytes of a rendered text count as content. In the expectations content stands in «».
#include <gtest/gtest.h>

#include "chat/testing/render.h"

namespace tempo9::chat::jinja {
namespace {

using Json = nlohmann::ordered_json;

struct Case {
  std::string_view source, expected;
};

class ContentTest : public ::testing::TestWithParam<Case> {};

TEST_P(ContentTest, IsMarked) {
  const Json variables = {{"x", "ab"},          {"y", "c,d"},          {"spaced", " e "},
                          {"list", {"f", "g"}}, {"d", {{"k", "v\n"}}}, {"n", 7}};
  const Result<Text> text = testing::render(GetParam().source, variables);
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(testing::show_content(text->view(), text->marks()), GetParam().expected) << GetParam().source;
  size_t end = 0;
  for (const Mark& mark : text->marks()) {
    EXPECT_TRUE(mark.begin >= end && mark.begin < mark.end && mark.end <= text->size());
    end = mark.end;
  }
}

INSTANTIATE_TEST_SUITE_P(
    FollowsBytes, ContentTest,
    ::testing::Values(
        Case{"<{{ x }}>{{ 'lit' }}{{ n }}", "<«ab»>lit7"},
        Case{"{{ '<' + x + '>' }}{{ '<' ~ x ~ n }}", "<«ab»><«ab»7"},
        Case{"{{ (x + '|' + y)[1:4] }}", "«b»|«c»"}, Case{"{{ ('[' + spaced + ']').strip('[]') }}", "« e »"},
        Case{"{{ spaced | trim }}{{ spaced.lstrip() }}", "«ee »"},
        Case{"{{ y.split(',') | join('-') }}", "«c»-«d»"}, Case{"{{ ('<' + x).replace('a', 'q') }}", "<q«b»"},
        Case{"{{ 'q'.replace('q', x) }}", "«ab»"}, Case{"{{ list | join(', ') }}", "«f», «g»"},
        Case{"{{ ', '.join(list) }}", "«f», «g»"}, Case{"{{ x * 2 }}{{ '-' * 2 }}", "«abab»--"},
        Case{"{{ (x ~ '-').partition('-') | join('|') }}", "«ab»|-|"},
        Case{"{{ x[0] }}{{ x | first }}{{ (x ~ '-') | last }}", "«aa»-"},
        Case{"{% for c in x ~ '-' %}{{ c }},{% endfor %}", "«a»,«b»,-,"},
        Case{"{{ d | tojson }}", "{\"«k»\": \"«v\\n»\"}"}, Case{"{{ [x, 'y', n] }}", "['«ab»', 'y', 7]"},
        Case{"{{ d.items() | list }}", "[('«k»', '«v\\n»')]"},
        Case{"{{ ('a\n' ~ x) | indent(2) }}", "a\n  «ab»"},
        Case{"{{ '{}-{}'.format(x, 1) }}{{ '%s-%d' % (x, 1) }}", "«ab»-1«ab»-1"},
        Case{"{{ '%5s' % x }}", "   «ab»"}, Case{"{{ x.center(6, '*') }}{{ '7'.zfill(3) }}", "**«ab»**007"},
        Case{"{{ ('<' ~ x ~ '>')[::-1] }}", ">«ba»<"},
        Case{"{{ (x ~ '\n' ~ 'z').splitlines() | join('+') }}", "«ab»+z"},
        Case{"{{ y.removeprefix('c') }}", "«,d»"}));

INSTANTIATE_TEST_SUITE_P(
    SurvivesVariables, ContentTest,
    ::testing::Values(
        Case{"{% set s = '<' ~ x ~ '>' %}{{ s }}{% set b %}({{ s }}){% endset %}{{ b }}", "<«ab»>(<«ab»>)"},
        Case{"{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m(x) }}{{ m('lit') }}", "[«ab»][lit]"},
        Case{"{% set ns = namespace(t='') %}{% for i in list %}{% set ns.t = ns.t ~ i ~ ';' %}{% endfor %}{{ "
             "ns.t }}",
             "«f»;«g»;"},
        Case{"{% filter trim %} <{{ x }}> {% endfilter %}", "<«ab»>"},
        Case{"{{ list | map('trim') | join('+') }}", "«f»+«g»"},
        Case{"{% macro m() %}({{ caller() }}){% endmacro %}{% call m() %}{{ x }}!{% endcall %}", "(«ab»!)"},
        Case{"{{ x | safe }}{{ ('<' | safe) + x }}", "«ab»<«ab»"},
        Case{"{% generation %}{{ x }}.{% endgeneration %}", "«ab»."}));

// Where bytes cannot be followed, the whole result is content.
INSTANTIATE_TEST_SUITE_P(MarksAllWhenUnsure, ContentTest,
                         ::testing::Values(Case{"{{ ('<' ~ x) | upper }}{{ 'lit' | upper }}", "«<AB»LIT"},
                                           Case{"{{ ('<' ~ x) | title }}", "«<Ab»"},
                                           Case{"{{ ('<' ~ x) | reverse }}", "«ba<»"},
                                           Case{"{{ ('<' ~ x) | e }}", "«&lt;ab»"},
                                           Case{"{{ ['<' ~ x] }}", "['«<ab»']"}));

TEST(ContentTest, EqualityAndKeysIgnoreMarks) {
  const Result<Text> text = testing::render(
      "{{ x == 'ab' }}{{ {'ab': 1}[x] }}{{ x in ['ab'] }}{{ [x, 'ab'] | unique | list | length }}",
      {{"x", "ab"}});
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->bytes(), "True1True1");
}

}  // namespace
}  // namespace tempo9::chat::jinja
