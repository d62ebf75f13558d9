#include "grammar/json_schema.h"

#include <gtest/gtest.h>

#include "grammar/testing/acceptance.h"

namespace tempo9::grammar {
namespace {

using testing::Acceptance;

struct Case {
  const char* schema;
  std::vector<std::string> accepted, refused;
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const Acceptance schema = Acceptance::of_schema(c.schema);
    EXPECT_EQ(schema.error(), "") << c.schema;
    for (const std::string& text : c.accepted)
      EXPECT_TRUE(schema.accepts(text)) << text << " for " << c.schema;
    for (const std::string& text : c.refused)
      EXPECT_FALSE(schema.accepts(text)) << text << " for " << c.schema;
  }
}

// Each names the keyword, its place, and whose schema it is.
void check_refused(const std::vector<std::pair<const char*, const char*>>& cases) {
  for (const auto& [schema, pointer] : cases) {
    const auto written = json_schema_to_ebnf(Json::parse(schema), "tool 'find'");
    ASSERT_FALSE(written) << schema;
    const std::string keyword = std::string(pointer).substr(std::string(pointer).rfind('/') + 1);
    const std::string start =
        fmt::format("tool 'find': the keyword '{}' at {} cannot be kept: ", keyword, pointer);
    EXPECT_TRUE(written.error().message.starts_with(start))
        << written.error().message << "\nexpected " << start;
  }
}

TEST(JsonSchema, WritesAnyValue) {
  check({{"true",
          {R"({"a": [1, -2.5e3, "x\n\u00e9", true, false, null, {}, []]})", "3", R"("é")"},
          {"", "{", R"({"a":1})", "[1,2]", "nul", "\"a\nb\"", R"("\ud800")", "[1] "}},
         {R"({"type":"object"})", {"{}", R"({"": {"b": 1}, "c": 2})"}, {"[]", "1", R"({a: 1})"}}});
}

TEST(JsonSchema, KeepsTypesAndConstants) {
  check({{R"({"type":["string","null"]})", {"null", "\"\""}, {"1", "true"}},
         {R"({"type":"boolean"})", {"true", "false"}, {"null"}},
         {R"({"enum":["a",1,null,{"b":[1]}]})", {R"("a")", "1", "null", R"({"b":[1]})"}, {R"("b")", "true"}},
         {R"({"type":"string","enum":["a",1]})", {R"("a")"}, {"1"}},
         {R"({"const":"\"\\ü\n"})", {R"("\"\\ü\n")"}, {R"("\"\\ü")"}},
         {R"({"type":["number","integer"]})", {"1", "1.5"}, {"\"1\""}}});
}

TEST(JsonSchema, KeepsObjects) {
  check(
      {{R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"boolean"},"c":{"type":"null"}},"required":["b"]})",
        {R"({"b": true})", R"({"a": 1, "b": true})", R"({"b": false, "c": null})",
         R"({"a": 1, "b": true, "c": null})"},
        {"{}", R"({"a": 1})", R"({"b": true, "a": 1})", R"({"b": true, "d": 1})", R"({"b": 1})",
         R"({, "b": true})"}},
       {R"({"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}})",
        {"{}", R"({"a": 1})", R"({"b": 1})", R"({"a": 1, "b": 2})"},
        {R"({"a": 1, })", R"({"b": 1, "a": 2})", "[]"}},
       {R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["z"]})",
        {R"({"z": [1]})", R"({"a": 1, "z": 2})"},
        {"{}", R"({"a": 1})"}},
       {R"({"type":"object","properties":{"ab":{"type":"integer"},"é":true,"q\"":true},"additionalProperties":{"type":"string"}})",
        {R"({"ab": 1, "abc": "x"})", R"({"a": "x", "b": "y", "": "z"})"},
        {R"({"ab": "x"})", R"({"ab": 1, "ab": "x"})", R"({"a\u0062": "x"})", R"({"a": 1})",
         R"({"é": 1, "é": "x"})"}},
       {R"({"type":"object","additionalProperties":{"type":"integer"},"maxProperties":2,"minProperties":1})",
        {R"({"a": 1})", R"({"a": 1, "b": 2})"},
        {"{}", R"({"a": "x"})", R"({"a": 1, "b": 2, "c": 3})"}},
       {R"({"type":"object","additionalProperties":false})", {"{}"}, {R"({"a": 1})"}},
       {R"({"type":"object","patternProperties":{"^x-[a-z]+$":{"type":"integer"}}})",
        {"{}", R"({"x-a": 1, "x-b": 2})"},
        {R"({"y": 1})", R"({"x-a": "1"})"}},
       {R"({"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"integer"}})",
        {R"({"b": 1, "a": 2})"},
        {R"({"c": 1})"}},
       {R"({"type":"object","properties":{"a":false,"b":true},"additionalProperties":{"type":"null"}})",
        {R"({"b": 1, "c": null})"},
        {R"({"a": null})"}},
       {R"({"type":"object","properties":{"a":true},"unevaluatedProperties":false,"minProperties":1})",
        {R"({"a": 1})"},
        {"{}", R"({"b": 1})"}}});
}

TEST(JsonSchema, KeepsArrays) {
  check(
      {{R"({"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3})",
        {"[1, 2]", "[1, 2, 3]"},
        {"[]", "[1]", "[1, 2, 3, 4]", "[1,2]", "[1, \"a\"]"}},
       {R"({"type":"array"})", {"[]", "[1, [2], {}]"}, {"[1, ]", "{}"}},
       {R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}]})",
        {"[]", "[1]", R"([1, "a"])"},
        {R"(["a"])", R"([1, "a", 2])"}},
       {R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":{"type":"null"},"minItems":1,"maxItems":3})",
        {"[1]", R"([1, "a"])", R"([1, "a", null])"},
        {"[]", R"([1, "a", null, null])", R"([1, null])"}},
       {R"({"type":"array","items":[{"type":"integer"}],"additionalItems":{"type":"boolean"}})",
        {"[]", "[1]", "[1, true, false]"},
        {"[true]"}},
       {R"({"type":"array","prefixItems":[{"const":1},false,{"const":3}]})", {"[]", "[1]"}, {"[1, 2, 3]"}},
       {R"({"type":"array","items":false})", {"[]"}, {"[1]"}},
       {R"({"type":"array","uniqueItems":true,"maxItems":1})", {"[]", "[1]"}, {"[1, 1]"}}});
}

TEST(JsonSchema, KeepsStrings) {
  check({{R"({"type":"string","minLength":2,"maxLength":3})",
          {R"("ab")", R"("a\"é")", R"("\u0041bc")"},
          {R"("a")", R"("abcd")", "\"a\tb\""}},
         {R"({"type":"string","maxLength":65536})", {R"("")", R"("abc")"}, {"\"a\nb\""}},
         {R"({"type":"string","pattern":"^[a-z]+$"})", {R"("abc")"}, {R"("aBc")", R"("")"}},
         {R"({"type":"string","pattern":"^[a-z]+$","maxLength":3})", {R"("abc")"}, {R"("abcd")"}},
         {R"({"type":"string","format":"date"})",
          {R"("2024-02-28")", R"("1999-12-31")"},
          {R"("2024-02-30")", R"("2024-13-01")", R"("0000-01-01")"}},
         {R"({"type":"string","format":"date-time"})",
          {R"("2024-02-28T23:59:59Z")", R"("2024-01-01T00:00:00.123+02:00")"},
          {R"("2024-02-28 23:59:59")"}},
         {R"({"type":"string","format":"uuid"})",
          {R"("123e4567-e89b-12d3-a456-426614174000")"},
          {R"("123e4567")"}},
         {R"({"type":"string","format":"email"})", {R"("a.b+c@ex.org")"}, {R"("a b@ex.org")", R"("a")"}},
         {R"({"type":"string","format":"uri"})",
          {R"("https://ex.org:80/a/b?q=1#f")", R"("mailto:a@ex.org")"},
          {R"("ex.org")", R"("http://a b")"}},
         {R"({"type":"integer","format":"int32"})", {"5"}, {"\"5\""}}});
}

TEST(JsonSchema, FollowsReferences) {
  check(
      {{R"({"$defs":{"node":{"type":"object","properties":{"value":{"type":"integer"},"next":{"$ref":"#/$defs/node"}},"required":["value"]}},"$ref":"#/$defs/node"})",
        {R"({"value": 1})", R"({"value": 1, "next": {"value": 2, "next": {"value": 3}}})"},
        {R"({"value": 1, "next": 2})"}},
       {R"({"type":"array","items":{"$ref":"#"}})", {"[]", "[[], [[]]]"}, {"[1]"}},
       {R"({"definitions":{"a~b/c %":{"type":"integer"}},"properties":{"p":{"$ref":"#/definitions/a~0b~1c%20%25"}}})",
        {R"({"p": 1})"},
        {R"({"p": "1"})"}},
       {R"({"$defs":{"s":{"type":"string"}},"properties":{"p":{"$ref":"#/$defs/s","maxLength":1,"description":"d"}}})",
        {R"({"p": "a"})"},
        {R"({"p": "ab"})"}}});
}

TEST(JsonSchema, CombinesSchemas) {
  check(
      {{R"({"anyOf":[{"type":"integer"},{"type":"string","maxLength":1}]})",
        {"1", R"("a")"},
        {R"("ab")", "null"}},
       {R"({"type":"object","properties":{"k":{"type":"string"}},"anyOf":[{"required":["k"]},{"properties":{"n":{"type":"integer"}},"required":["n"]}]})",
        {R"({"k": "a"})", R"({"n": 1})", R"({"k": "a", "n": 1})"},
        {"{}"}},
       {R"({"oneOf":[{"type":"integer"},{"type":"string"}]})", {"1", R"("a")"}, {"null"}},
       {R"({"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"integer"}},"required":["kind"]},{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"]}]})",
        {R"({"kind": "a", "x": 1})", R"({"kind": "b"})"},
        {R"({"kind": "b", "x": 1})", R"({"kind": "c"})"}},
       {R"({"oneOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"object","properties":{"b":{}},"required":["b"]}]})",
        {R"({"a": 1})", R"({"b": 1})"},
        {R"({"a": 1, "b": 1})"}},
       {R"({"oneOf":[{"type":"string","enum":["all"]},{"type":"string","pattern":"^[1-9][0-9]*$"}]})",
        {R"("all")", R"("12")"},
        {R"("none")"}},
       {R"({"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"type":"integer"},"a":{"minimum":3}}}]})",
        {R"({"a": 3})", R"({"a": 3, "b": 1})"},
        {R"({"a": 2})", R"({"b": 1})"}},
       {R"({"allOf":[{"properties":{"a":true},"additionalProperties":{"type":"integer"}},{"properties":{"b":{"minimum":2}}}]})",
        {R"({"a": "x", "b": 2})"},
        {R"({"b": "x"})", R"({"b": 1})"}},
       {R"({"allOf":[{"prefixItems":[{"minimum":3}]}],"type":"array","items":{"type":"integer","minimum":5}})",
        {"[]", "[5]", "[6, 5]"},
        {"[4]", "[3]", "[5, 3]"}},
       {R"({"allOf":[{"type":"object","properties":{"a":true}}],"unevaluatedProperties":false})",
        {"{}", R"({"a": 1})"},
        {R"({"b": 1})"}},
       {R"({"allOf":[{"enum":[1,2,3]},{"enum":[2,3,4]},{"type":"integer"}]})", {"2", "3"}, {"1", "4"}}});
}

TEST(JsonSchema, RefusesWhatItCannotKeepByName) {
  check_refused({
      {R"({"properties":{"a":{"type":"array","uniqueItems":true}}})", "/properties/a/uniqueItems"},
      {R"({"properties":{"a/b":{"not":{"type":"string"}}}})", "/properties/a~1b/not"},
      {R"({"type":"array","items":{"type":"array","contains":{"type":"null"}}})", "/items/contains"},
      {R"({"if":{},"then":{"type":"string"}})", "/if"},
      {R"({"type":"object","dependentRequired":{"a":["b"]}})", "/dependentRequired"},
      {R"({"type":"object","dependentSchemas":{"a":{}}})", "/dependentSchemas"},
      {R"({"type":"string","format":"iban"})", "/format"},
      {R"({"type":"string","pattern":"(a)\\1"})", "/pattern"},
      {R"({"type":"string","pattern":"a|b+","maxLength":8})", "/pattern"},
      {R"({"type":"string","format":"email","maxLength":8})", "/format"},
      {R"({"type":"string","format":"date","pattern":"^2"})", "/pattern"},
      {R"({"type":"number","multipleOf":0.5})", "/multipleOf"},
      {R"({"oneOf":[{"type":"string"},{"type":"string","maxLength":3}]})", "/oneOf"},
      {R"({"oneOf":[{"type":"integer"},{"type":"number"}]})", "/oneOf"},
      {R"({"enum":["a","b"],"minLength":3})", "/minLength"},
      {R"({"allOf":[{"pattern":"a"},{"pattern":"b"}]})", "/allOf/1/pattern"},
      {R"({"$defs":{"A":{"unevaluatedProperties":false}},"properties":{"p":true},"$ref":"#/$defs/A"})",
       "/unevaluatedProperties"},
      {R"({"allOf":[{"unevaluatedItems":false},{"prefixItems":[true]}]})", "/allOf/0/unevaluatedItems"},
      {R"({"type":"array","anyOf":[{"prefixItems":[true],"unevaluatedItems":false}]})",
       "/anyOf/0/unevaluatedItems"},
      {R"({"$ref":"other.json#/a"})", "/$ref"},
      {R"({"$ref":"#/$defs/none"})", "/$ref"},
      {R"({"$ref":"#"})", "/$ref"},
      {R"({"properties":{"a":{}},"patternProperties":{"^x":{}}})", "/patternProperties"},
      {R"({"properties":{"a":{},"b":{}},"maxProperties":1})", "/maxProperties"},
      {R"({"type":"object","minProperties":2})", "/minProperties"},
      {R"({"type":"text"})", "/type"},
      {R"({"type":"string","maxLength":-1})", "/maxLength"},
      {R"({"$dynamicRef":"#a"})", "/$dynamicRef"},
      {R"({"anyOf":[{"not":{}}]})", "/anyOf/0/not"},
  });
}

TEST(JsonSchema, TellsThatNothingSatisfiesIt) {
  for (const char* schema : {"false", R"({"type":"array","minItems":3,"maxItems":2})",
                             R"({"allOf":[{"type":"string"},{"type":"null"}]})",
                             R"({"properties":{"a":false},"required":["a"]})", R"({"anyOf":[false]})"})
    EXPECT_EQ(Acceptance::of_schema(schema).error(), "schema: no value satisfies the schema") << schema;
}

TEST(JsonSchema, HasBounds) {
  Json deep = true;
  for (int i = 0; i < 500; ++i) deep = {{"type", "array"}, {"items", deep}};
  EXPECT_NE(json_schema_to_ebnf(deep, "s").error().message.find("levels deep"), std::string::npos);
  // Each definition refers to the next twice, beside another keyword, so that it is copied.
  Json bomb = {{"$defs", Json::object()}, {"$ref", "#/$defs/d0"}};
  for (int i = 0; i < 60; ++i) {
    const std::string next = fmt::format("#/$defs/d{}", i + 1);
    const Json part = {{"$ref", next}, {"minProperties", 1}};
    bomb["$defs"][fmt::format("d{}", i)] = {{"properties", {{"a", part}, {"b", part}}}, {"type", "object"}};
  }
  bomb["$defs"]["d60"] = {{"type", "object"}};
  EXPECT_FALSE(json_schema_to_ebnf(bomb, "s"));
}

// Bounds are written in blocks; they are exact at every length, however it falls.
TEST(JsonSchema, KeepsLengthsExactly) {
  const std::pair<int, int> bounds[] = {{0, 0},  {0, 5},   {1, 31},   {0, 63},  {0, 64},
                                        {3, 99}, {0, 127}, {40, 200}, {65, 65}, {33, 400}};
  for (const auto& [least, most] : bounds) {
    const Acceptance form(schema_form({{"type", "string"}, {"minLength", least}, {"maxLength", most}}, "s"));
    ASSERT_EQ(form.error(), "");
    for (int length = 0; length <= most + 40; ++length) {
      std::string text;
      for (int i = 0; i < length; ++i)
        text += i % 7 == 0 ? "\\n" : i % 5 == 0 ? "\u00e9" : i % 11 == 0 ? "\\u001f" : "a";
      EXPECT_EQ(form.accepts('"' + text + '"'), length >= least && length <= most)
          << length << " of " << least << " to " << most;
    }
  }
  const Acceptance open(schema_form({{"type", "string"}, {"minLength", 70}}, "s"));
  EXPECT_FALSE(open.accepts('"' + std::string(69, 'a') + '"'));
  EXPECT_TRUE(open.accepts('"' + std::string(70, 'a') + '"') &&
              open.accepts('"' + std::string(900, 'a') + '"'));
}

}  // namespace
}  // namespace tempo9::grammar
