// The house rules, checked on every file; and each rule shown able to fail, on a planted mistake.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tidy/functions.h"
#include "tidy/rules.h"

namespace tempo9::tidy {
namespace {

// Sizes above a limit that we live with. Each is to become smaller; none may be added.
const std::vector<Excuse> kExcuses = {};

constexpr const char* kPage = R"(
```layers
base:
quant: base
gguf:  base quant
chat:  base
apps:  base chat
tests: *
```
```headers
fmt/*: *
gtest/*: tests
sys/* unistd.h: base
sys/mman.h: gguf/map
```
)";

Architecture parse_page(std::string_view page) {
  const auto architecture = Architecture::parse(page);
  EXPECT_TRUE(architecture.has_value());
  return architecture.value_or(Architecture{});
}

std::string describe(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("\n  {}:{}: [{}] {}", finding.path, finding.line, finding.rule, finding.message);
  }
  return text;
}

// One file in a tree that is otherwise right.
std::vector<Finding> check_planted(SourceFile planted) {
  std::vector<SourceFile> sources = {
      {"src/base/a.h", "// A.\n#pragma once\n"},
      {"src/quant/q.h", "// Q.\n#pragma once\n"},
      {"src/gguf/map/deep.h", "// D.\n#pragma once\n"},
      {"src/chat/c.h", "// C.\n#pragma once\n"},
      {"src/gguf/all_test.cpp",
       "#include \"base/a.h\"\n#include \"quant/q.h\"\n#include \"gguf/map/deep.h\"\n"},
      {"apps/main.cpp", "#include \"chat/c.h\"\nint main() {}\n"},
  };
  const std::vector<SourceFile> lists = {
      {"src/base/CMakeLists.txt",
       "tempo9_room(base SOURCES x.cpp)\nadd_executable(t ${PROJECT_SOURCE_DIR}/tests/t.cpp)"},
      {"src/gguf/CMakeLists.txt",
       "tempo9_room(gguf SOURCES x.cpp map/x.cpp testing/x.cpp x_test_tools.cpp)\ntempo9_test(SOURCES "
       "x_test.cpp "
       "all_test.cpp)"},
      {"src/gguf/map/sources.cmake", "set(MAP map/more.cpp)"},
      {"src/chat/CMakeLists.txt", "tempo9_room(chat SOURCES x.cpp)"},
      {"apps/CMakeLists.txt", "add_executable(tempo9 main.cpp x.cpp)"},
  };
  sources.push_back(std::move(planted));
  return check_tree(sources, lists, parse_page(kPage));
}

void expect_clean(SourceFile planted) {
  const auto findings = check_planted(std::move(planted));
  EXPECT_TRUE(findings.empty()) << describe(findings);
}

void expect_finding(const std::string& rule, int line, SourceFile planted) {
  const auto findings = check_planted(std::move(planted));
  ASSERT_EQ(findings.size(), 1u) << describe(findings);
  EXPECT_EQ(findings[0].rule, rule) << describe(findings);
  EXPECT_EQ(findings[0].line, line) << describe(findings);
}

std::string repeat(std::string_view line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += line;
  return text;
}

// ---- The whole project ----

std::filesystem::path project_folder() {
  const char* folder = std::getenv("TEMPO9_SOURCE_DIR");
  return folder ? folder : ".";
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(Tidy, WholeProjectKeepsTheRules) {
  std::vector<SourceFile> sources, lists;
  for (const char* top : {"src", "include", "apps", "tests", "bench", "fuzz", "cmake"}) {
    if (!std::filesystem::exists(project_folder() / top)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(project_folder() / top)) {
      const std::string path = entry.path().lexically_relative(project_folder()).generic_string();
      for (const char* kind : {".h", ".cpp", ".cu", ".metal"})
        if (path.ends_with(kind)) sources.push_back({path, read_file(entry.path())});
      if (path.ends_with("/CMakeLists.txt") || path.ends_with(".cmake"))
        lists.push_back({path, read_file(entry.path())});
    }
  }
  ASSERT_FALSE(sources.empty());
  const Architecture architecture = parse_page(read_file(project_folder() / "docs/architecture.md"));
  const auto findings = apply_excuses(check_tree(sources, lists, architecture), kExcuses);
  EXPECT_TRUE(findings.empty()) << describe(findings);
}

// ---- Includes ----

TEST(TidyLayers, DownwardIsAllowedUpwardIsNot) {
  expect_clean({"src/gguf/x.cpp", "#include \"gguf/map/deep.h\"\n#include \"quant/q.h\"\n"});
  expect_finding("layer", 2, {"src/base/x.cpp", "\n#include \"quant/q.h\"\n"});
  expect_finding("layer", 1, {"src/chat/x.cpp", "#include \"quant/q.h\"\n"});
  expect_finding("layer", 1, {"src/base/x.cpp", "  #  include \"quant/q.h\" // why not\n"});
}

TEST(TidyLayers, TestsReachWhatLiesBelowTheirRoom) {
  expect_clean({"src/gguf/x_test.cpp", "#include \"base/a.h\"\n#include \"gguf/map/deep.h\"\n"});
  expect_finding("layer", 1, {"src/gguf/x_test.cpp", "#include \"chat/c.h\"\n"});
}

TEST(TidyLayers, UnknownFolderOrFileIsNamed) {
  expect_finding("layer", 1, {"src/base/x.cpp", "#include \"base/nowhere.h\"\n"});
  const auto findings = check_planted({"src/attic/x.cpp", ""});
  ASSERT_EQ(findings.size(), 2u) << describe(findings);  // no room, and no list
  EXPECT_EQ(findings[0].rule, "layer");
}

TEST(TidyLayers, CommentedOrQuotedIncludeDoesNotCount) {
  expect_clean({"src/base/x.cpp", "// #include \"quant/q.h\"\n/*\n#include \"quant/q.h\"\n*/\n"});
  expect_clean({"src/base/x.cpp", "auto s = R\"(\n#include \"quant/q.h\"\n)\";\n"});
}

TEST(TidyLayers, SubfoldersArePrivate) {
  const std::vector<SourceFile> sources = {{"src/chat/parsers/p.h", "// P.\n#pragma once\n"},
                                           {"src/chat/x.cpp", "#include \"chat/parsers/p.h\"\n"},
                                           {"tests/x.cpp", "#include \"chat/parsers/p.h\"\n"},
                                           {"apps/x.cpp", "#include \"chat/parsers/p.h\"\n"}};
  const std::vector<SourceFile> lists = {{"src/chat/CMakeLists.txt", "x.cpp"},
                                         {"tests/CMakeLists.txt", "x.cpp"},
                                         {"apps/CMakeLists.txt", "x.cpp"}};
  const auto findings = check_tree(sources, lists, parse_page(kPage));
  ASSERT_EQ(findings.size(), 1u) << describe(findings);
  EXPECT_EQ(findings[0].rule, "privacy");
  EXPECT_EQ(findings[0].path, "apps/x.cpp");
}

TEST(TidyHeaders, OutsideHeadersStandInTheTable) {
  expect_clean({"src/chat/x.cpp", "#include <fmt/format.h>\n#include <string_view>\n#include <cstdint>\n"});
  expect_clean({"src/base/x.cpp", "#include <sys/mman.h>\n#include <unistd.h>\n"});
  expect_clean({"src/gguf/map/x.cpp", "#include <sys/mman.h>\n"});
  expect_clean({"src/gguf/x_test.cpp", "#include <gtest/gtest.h>\n"});
  expect_clean({"src/gguf/testing/x.cpp", "#include <gtest/gtest.h>\n"});
  expect_clean({"src/gguf/x_test_tools.cpp", "#include <gtest/gtest.h>\n"});
  expect_finding("header", 1, {"src/gguf/x.cpp", "#include <sys/mman.h>\n"});
  expect_finding("header", 1, {"src/gguf/map/x.cpp", "#include <unistd.h>\n"});
  expect_finding("header", 1, {"src/gguf/x.cpp", "#include <gtest/gtest.h>\n"});
  expect_finding("header", 1, {"src/chat/x.cpp", "#include <boost/asio.hpp>\n"});
  expect_finding("header", 1, {"src/chat/x.cpp", "#include <stdint.h>\n"});
}

TEST(TidyArchitecture, PageWithoutTablesIsRefused) {
  EXPECT_FALSE(Architecture::parse("# Architecture\n").has_value());
  EXPECT_FALSE(Architecture::parse("```layers\nbase:\n```\n").has_value());
  EXPECT_FALSE(Architecture::parse("```layers\nbase\n```\n```headers\nfmt/*: *\n```\n").has_value());
}

// ---- Sizes ----

TEST(TidySizes, FileOf600LinesPasses601DoesNot) {
  expect_clean({"src/base/x.cpp", repeat("\n", 600)});
  expect_finding("file", 0, {"src/base/x.cpp", repeat("\n", 601)});
}

TEST(TidySizes, FunctionOf70LinesPasses71DoesNot) {
  expect_clean({"src/base/x.cpp", "\nvoid f() {\n" + repeat("  g();\n", 68) + "}\n"});
  expect_finding("function", 2, {"src/base/x.cpp", "\nvoid f() {\n" + repeat("  g();\n", 69) + "}\n"});
}

TEST(TidySizes, UnbalancedBracesAreAFinding) {
  expect_finding("function", 0, {"src/base/x.cpp", "void f() {\n"});
  expect_finding("function", 0, {"src/base/x.cpp", "void f() {}}\n"});
}

std::vector<std::string> measured(std::string_view source) {
  const auto functions = find_functions(source);
  if (!functions) return {"unbalanced"};
  std::vector<std::string> out;
  for (const Function& f : *functions)
    out.push_back(fmt::format("{} {}-{}", f.name, f.first_line, f.last_line));
  return out;
}
using Names = std::vector<std::string>;

TEST(TidyFunctions, FindsThemInEveryScope) {
  EXPECT_EQ(
      measured("namespace a::b {\nint f(int x) {\n  if (x) { return 1; }\n  return 2;\n}\n}  // namespace\n"),
      Names{"f 2-5"});
  EXPECT_EQ(
      measured(
          "class A final : public B {\n public:\n  A() = default;\n  int g() const {\n    return 1;\n  }\n"
          " private:\n  std::vector<int> v_{1, 2};\n};\n"),
      Names{"g 4-6"});
  EXPECT_EQ(measured("extern \"C\" {\nvoid f() {\n}\n}\nextern \"C\" void g() {\n}\n"),
            (Names{"f 2-3", "g 5-6"}));
  EXPECT_EQ(
      measured(
          "template <class T, class = std::enable_if_t<(sizeof(T) > 4)>>\nstruct S {\n  T f() {\n  }\n};\n"),
      Names{"f 3-4"});
  EXPECT_EQ(measured("struct alignas(64) Line {\n  bool operator==(const Line& o) const {\n  }\n};\n"),
            Names{"operator== 2-3"});
  EXPECT_EQ(measured("enum class E : uint8_t { kA, kB };\nunion U { int a; float b; };\n"), Names{});
}

TEST(TidyFunctions, CountsFromTheDeclarationsFirstLine) {
  EXPECT_EQ(
      measured("\n// Why.\ntemplate <class T>\nResult<T>\nA::f(int a,\n     int b) const noexcept\n{\n}\n"),
      Names{"A::f 3-8"});
}

TEST(TidyFunctions, MemberInitialisersBelongToTheConstructor) {
  EXPECT_EQ(measured("A::A(int a)\n    : a_{a}, b_{\n          1}, c_(2) {\n  f();\n}\nvoid g() {\n}\n"),
            (Names{"A::A 1-5", "g 6-7"}));
}

TEST(TidyFunctions, TablesAreNoFunctionsButTheirLambdasAre) {
  EXPECT_EQ(
      measured("const Row kRows[] = {\n  {1, 2},\n  {3, 4},\n};\nstd::array<int, size(3)> kA = {1,\n2};\n"),
      Names{});
  EXPECT_EQ(measured("const Row kRows[] = {\n  {\"a\", [](int x) {\n    return x;\n  }},\n  {\"b\", 2}};\n"),
            Names{"lambda 2-4"});
  EXPECT_EQ(
      measured(
          "const auto f = [](int x) {\n  return x;\n};\nconst bool done = add(\"x\", [] {\n  g();\n});\n")
          .size(),
      2u);
}

TEST(TidyFunctions, LambdasCountWithTheFunctionAroundThem) {
  EXPECT_EQ(measured("void f() {\n  auto g = [&](int x) {\n    struct L { int y; };\n  };\n  g({1});\n}\n"),
            Names{"f 1-6"});
}

TEST(TidyFunctions, BracesInTextDoNotCount) {
  EXPECT_EQ(measured("void f() {\n  // }\n  /* } */ g(\"}\", '}', '\\'', \"\\\"}\");\n}\n"), Names{"f 1-4"});
  EXPECT_EQ(measured("void f() {\n  g(R\"x(}\n)\" } )x\", u8R\"(})\");\n}\n"), Names{"f 1-4"});
  EXPECT_EQ(measured("void f() {\n  int n = 1'000'000 + 0xFF'FFu; char c = 'x'; }\n"), Names{"f 1-2"});
  EXPECT_EQ(measured("// a comment goes on \\\n}\nvoid f() {\n}\n"), Names{"f 3-4"});
}

TEST(TidyFunctions, MacrosOfSeveralLinesAreMeasured) {
  EXPECT_EQ(measured("#define A(x) \\\n  do {      \\\n    f(x);   \\\n\nvoid g() {\n}\n"),
            (Names{"g 5-6", "#define A(x) \\ 1-4"}));
  EXPECT_EQ(measured("#ifdef X\nvoid f(int) {\n#else\nvoid f() {\n#endif\n}\n"), Names{"unbalanced"});
}

TEST(TidyExcuses, OnlyShrink) {
  const std::vector<Finding> long_file = {{"file", "src/base/x.cpp", 0, 650, ""}};
  const std::vector<Excuse> fitting = {{"file", "src/base/x.cpp", 650}};
  const std::vector<Excuse> generous = {{"file", "src/base/x.cpp", 700}};
  EXPECT_TRUE(apply_excuses(long_file, fitting).empty());
  EXPECT_EQ(apply_excuses(long_file, generous).size(), 2u);
  EXPECT_EQ(apply_excuses({}, fitting).size(), 1u);
}

// ---- Words, directives, headers, lists ----

TEST(TidyWords, UnfinishedWordsAreFound) {
  expect_finding("word", 2,
                 {"src/base/x.cpp",
                  "\n// TO"
                  "DO: later\n"});
  expect_finding("word", 1,
                 {"src/base/x.cpp",
                  "// FIX"
                  "ME\n"});
  expect_clean({"src/base/x.cpp",
                "int kMasTO"
                "DONs;\n"});
}

TEST(TidyDirectives, OnlyTheBackendAsksForItsDevice) {
  expect_finding("ifdef", 1, {"src/base/x.cpp", "#ifdef TEMPO9_CUDA\n#endif\n"});
  expect_finding("ifdef", 1, {"src/base/x.cpp", "#if defined(__x86_64__) && defined(__AVX2__)\n#endif\n"});
  expect_clean(
      {"src/base/x.cpp", "#if defined(__linux__) && defined(__x86_64__)\n#endif\n// #ifdef TEMPO9_CUDA\n"});
}

TEST(TidyStyle, HeadersSayWhatTheyAreFor) {
  const std::string good = "// Why.\n#pragma once\n";
  const auto with_user = [](const std::string& header) {
    std::vector<SourceFile> sources = {{"src/base/h.h", header},
                                       {"src/base/x.cpp", "#include \"base/h.h\"\n"}};
    const std::vector<SourceFile> lists = {{"src/base/CMakeLists.txt", "x.cpp"}};
    return check_tree(sources, lists, parse_page(kPage));
  };
  EXPECT_TRUE(with_user(good).empty());
  EXPECT_EQ(with_user("#pragma once\n").size(), 1u);
  EXPECT_EQ(with_user("// Why.\n").size(), 1u);
  EXPECT_EQ(with_user(good + "using namespace std;\n").size(), 1u);
  EXPECT_TRUE(with_user(good + "// never `using namespace` here\n").empty());
}

TEST(TidyLists, FilesNobodyBuildsOrIncludesAreDead) {
  expect_finding("listed", 0, {"src/base/y.cpp", ""});
  expect_finding("listed", 0, {"src/gguf/map/y.cpp", ""});
  expect_finding("listed", 0, {"src/base/ax.cpp", ""});  // x.cpp is listed, ax.cpp is not
  expect_finding("listed", 0, {"src/chat/t.cpp", ""});   // listed is tests/t.cpp
  expect_clean({"src/gguf/map/x.cpp", ""});
  expect_clean({"src/gguf/map/more.cpp", ""});
  expect_clean({"tests/t.cpp", ""});
  expect_finding("dead", 0, {"src/base/unused.h", "// U.\n#pragma once\n"});
}

}  // namespace
}  // namespace tempo9::tidy
