// What a Metal compiler would say of the kernels, as far as clang can tell without one: the Metal mapping and
// the kernels through it, over a library in which each address space is a type (strict/metal_stdlib); then
// what clang allows and Metal does not, by the syntax tree and by the text. Skipped where clang is not
// installed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace tempo9::backend::gpu {
namespace {

std::filesystem::path gpu_folder() {
  const char* folder = std::getenv("TEMPO9_SOURCE_DIR");
  return std::filesystem::path(folder ? folder : ".") / "src/backend/gpu";
}

struct Outcome {
  int status;
  std::string output;
};

Outcome run(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  return {::pclose(pipe), output};
}

// Whether to go on: without clang a test is skipped, or fails where TEMPO9_NEEDS_CLANG is set.
bool has_clang() {
  if (run("clang++ --version").status == 0) return true;
  EXPECT_EQ(std::getenv("TEMPO9_NEEDS_CLANG"), nullptr) << "clang++ is not installed";
  return false;
}

Outcome compile(const std::filesystem::path& file, const std::string& more) {
  const std::string folder = gpu_folder().string();
  return run(
      "clang++ -x c++ -std=c++14 --target=aarch64-none-elf -fsyntax-only -fno-exceptions -fno-rtti -Wall "
      "-Wextra -Werror "
      "-Wno-unknown-attributes -Wno-unused-function -Wno-unused-parameter -Wno-undefined-internal "
      "-I" +
      folder + "/strict -I" + folder + "/../.. " + more + " " + file.string());
}

// Of clang's syntax tree. Metal's C++ has none of these.
std::string forbidden_in_tree(const std::filesystem::path& file) {
  const std::string tree = compile(file, "-Xclang -ast-dump").output;
  for (const char* word : {"LambdaExpr", "CXXNewExpr", "CXXDeleteExpr", "CXXThrowExpr", "GotoStmt",
                           "'double'", "'long double'", "thread_local", "virtual"})
    if (tree.find(word) != std::string::npos) return word;
  return "";
}

// Lines with a pointer or reference that names no address space; to clang that is one to a thread's own
// memory.
std::vector<std::string> without_space(const std::string& text) {
  static const std::regex kDeclarator(
      R"((^|[(,;{]|\bconst\b)\s*(const\s+)?(float4|float|uint4|uint|uchar|ushort|int|ulong|bool|[A-Z]\w*[a-z]\w*)\s*(const\s*)?[*&]\s*\(?[&*]?\s*(const\s*)?[A-Za-z_)>])");
  static const std::regex kSpace(R"(\b(DEVICE|CONSTANT|SHARED|THREAD)\b)");
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string code = line.substr(0, line.find("//"));
    for (std::sregex_iterator match(code.begin(), code.end(), kDeclarator), end; match != end; ++match) {
      const std::string before = code.substr(0, static_cast<size_t>(match->position() + match->length()));
      const std::string declaration =
          before.substr(before.find_last_of(",(") == std::string::npos
                            ? 0
                            : before.substr(0, before.size() - 3).find_last_of(",(") + 1);
      if (!std::regex_search(declaration, kSpace)) found.push_back(line);
    }
  }
  return found;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Empty if the kernels in `file` are accepted, else why they are not.
std::string refusal(const std::filesystem::path& file) {
  const Outcome compiled = compile(file, "");
  if (compiled.status != 0) return compiled.output;
  const std::string word = forbidden_in_tree(file);
  if (!word.empty()) return "forbidden: " + word;
  const auto lines = without_space(read(file));
  return lines.empty() ? "" : "no address space: " + lines.front();
}

TEST(GpuStrictTest, MetalWouldTakeTheKernels) {
  if (!has_clang()) GTEST_SKIP() << "clang++ is not installed: address spaces are not checked";
  EXPECT_EQ(refusal(gpu_folder() / "strict/kernels.metal"), "");
}

TEST(GpuStrictTest, EveryPointerNamesItsAddressSpace) {
  for (const auto& entry : std::filesystem::directory_iterator(gpu_folder() / "kernels"))
    for (const std::string& line : without_space(read(entry.path())))
      ADD_FAILURE() << entry.path().filename() << ": " << line;
}

TEST(GpuStrictTest, PlantedMistakesAreRefused) {
  if (!has_clang()) GTEST_SKIP() << "clang++ is not installed: address spaces are not checked";
  const std::string top =
      "#include \"backend/gpu/dialect/metal.h\"\nstruct A { DEVICE float* p; CONSTANT float* table; "
      "};\nstruct S { float x[32]; };\n";
  const auto check = [&](const std::string& body, const std::string& reason) {
    const std::filesystem::path file = ::testing::TempDir() + "tempo9_planted.metal";
    std::ofstream(file) << top << body << "\n";
    const std::string why = refusal(file);
    EXPECT_TRUE(reason.empty() ? why.empty() : why.find(reason) != std::string::npos) << body << "\n" << why;
  };
  check("KERNEL(k, A, S) { a.p[c.tid] = 1.0f; }", "");
  check("KERNEL(k, A, S) { THREAD float* q = a.p; q[0] = 1.0f; }", "cannot initialize");
  check(
      "INLINE float first(DEVICE const float* p) { return p[0]; }\nKERNEL(k, A, S) { a.p[0] = first(s.x); }",
      "no matching function");
  check("KERNEL(k, A, S) { DEVICE float* q = a.table; q[0] = 2.0f; }", "cannot initialize");
  check("KERNEL(k, A, S) { a.p[0] = a.p[0] * 0.5; }", "'double'");
  check("KERNEL(k, A, S) { auto f = [](float v) { return v + 1.0f; }; a.p[0] = f(2.0f); }", "LambdaExpr");
  check(
      "INLINE float first(const float* p) { return p[0]; }\nKERNEL(k, A, S) { float v[1] = {1.0f}; a.p[0] = "
      "first(v); }",
      "no address space");
}

}  // namespace
}  // namespace tempo9::backend::gpu
