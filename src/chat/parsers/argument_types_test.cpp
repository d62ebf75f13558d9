#include "chat/parsers/argument_types.h"

#include <gtest/gtest.h>

namespace tempo9::chat {
namespace {

unsigned allowed(std::string_view schema) {
  Tool tool;
  tool.parameters = Json::parse(R"({"$defs": {"n": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}}, )"
                                R"("properties": {"p": )" +
                                std::string(schema) + "}}");
  return allowed_types(tool, "p");
}

TEST(ArgumentTypes, ComeFromTheSchema) {
  using namespace types;
  EXPECT_EQ(allowed(R"({"type": "string"})"), kString);
  EXPECT_EQ(allowed(R"({"type": ["number", "null"]})"), kNumber | kInteger | kNull);
  EXPECT_EQ(allowed(R"({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/n"}]})"), kString | kInteger);
  EXPECT_EQ(allowed(R"({"oneOf": [{"type": "array"}, {"type": "object"}]})"), kArray | kObject);
  EXPECT_EQ(allowed(R"({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]})"), kString);
  EXPECT_EQ(allowed(R"({"enum": ["a", 1, null]})"), kString | kInteger | kNull);
  EXPECT_EQ(allowed(R"({"const": true})"), kBoolean);
  EXPECT_EQ(allowed(R"({"type": "string", "nullable": true})"), kString | kNull);
  for (const std::string_view unsaid : {"{}", "true", R"({"type": "odd"})", R"({"$ref": "#/$defs/loop"})",
                                        R"({"$ref": "http://x"})", R"({"$ref": "#/no/where"})"})
    EXPECT_EQ(allowed(unsaid), kAny) << unsaid;
  Tool tool;
  EXPECT_EQ(allowed_types(tool, "p"), kAny);
  tool.parameters = Json::parse(R"({"additionalProperties": {"type": "integer"}})");
  EXPECT_EQ(allowed_types(tool, "p"), kInteger);
}

TEST(ArgumentTypes, TypeAText) {
  using namespace types;
  EXPECT_EQ(type_value("5", kString), R"("5")");
  EXPECT_EQ(type_value("5", kInteger | kString), "5");
  EXPECT_EQ(type_value(" 5.0\n", kInteger), "5.0");
  EXPECT_EQ(type_value("5.5", kInteger), R"("5.5")");
  EXPECT_EQ(type_value("False", kBoolean), "false");
  EXPECT_EQ(type_value("None", kNull | kInteger), "null");
  EXPECT_EQ(type_value("None", kString), R"("None")");
  EXPECT_EQ(type_value("\"quoted\"", kAny), R"("\"quoted\"")");
  EXPECT_EQ(type_value("{\"a\": 1}", kObject), "{\"a\": 1}");
  EXPECT_EQ(type_value("{\"a\": \"x\ny\"}", kObject), R"({"a": "x\ny"})");
  EXPECT_EQ(type_value("{'a': 1}", kObject), R"("{'a': 1}")");
  EXPECT_EQ(type_value("", kInteger), R"("")");
  EXPECT_EQ(type_value("a\x01\"\n", kString), R"("a\u0001\"\n")");
}

TEST(ArgumentTypes, RetypeALiteral) {
  using namespace types;
  EXPECT_EQ(retype_value("5", kString), R"("5")");
  EXPECT_EQ(retype_value(R"("5")", kInteger), "5");
  EXPECT_EQ(retype_value(R"("x")", kInteger), R"("x")");
  EXPECT_EQ(retype_value("true", kInteger), "true");
  EXPECT_EQ(retype_value("null", kNull), "null");
}

}  // namespace
}  // namespace tempo9::chat
