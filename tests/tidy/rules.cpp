#include "tidy/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <set>

#include "tidy/functions.h"

namespace tempo9::tidy {
namespace {

struct Include {
  std::string path;
  bool quoted;
  int line;
};

bool is_header(std::string_view path) {
  return path.ends_with(".h");
}

std::vector<Include> find_includes(const SourceFile& file) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  // An #include inside a literal is no include: its line is blank in the second text.
  const std::string text = blank_comments(file.text);
  const std::string code = blank_comments_and_literals(file.text);
  const auto text_lines = split_lines(text);
  const auto code_lines = split_lines(code);
  std::vector<Include> includes;
  for (size_t i = 0; i < text_lines.size(); ++i) {
    if (!trim(code_lines[i]).starts_with('#')) continue;
    const std::string line(text_lines[i]);
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) {
      includes.push_back({match[2].str(), match[1] == "\"", static_cast<int>(i) + 1});
    }
  }
  return includes;
}

class TreeCheck {
 public:
  TreeCheck(std::span<const SourceFile> sources, std::span<const SourceFile> lists,
            const Architecture& architecture)
      : sources_(sources), lists_(lists), architecture_(architecture) {
    for (const SourceFile& file : sources) paths_.insert(file.path);
  }

  std::vector<Finding> run() {
    for (const SourceFile& file : sources_) {
      check_includes(file);
      check_sizes(file);
      check_words(file);
      check_directives(file);
      if (is_header(file.path)) check_header_style(file);
      if (file.path.ends_with(".cpp")) check_listed(file);
    }
    for (const SourceFile& file : sources_) {
      if (is_header(file.path) && !included_.contains(file.path)) {
        add("dead", file.path, 0, "no file includes this header");
      }
    }
    return std::move(findings_);
  }

 private:
  void add(std::string rule, std::string path, int line, std::string message, int size = 0) {
    findings_.push_back({std::move(rule), std::move(path), line, size, std::move(message)});
  }

  // Where `#include "name"` leads: beside the including file, or from one of the roots the build passes.
  std::optional<std::string> resolve(const SourceFile& file, const std::string& name) const {
    const std::string beside = std::filesystem::path(file.path).parent_path().string() + "/";
    for (const std::string& root :
         {std::string("src/"), std::string("include/"), std::string("tests/"), beside}) {
      if (paths_.contains(root + name)) return root + name;
    }
    return std::nullopt;
  }

  void check_includes(const SourceFile& file) {
    const auto room = architecture_.room_of(file.path);
    if (!room) {
      add("layer", file.path, 0, "this folder has no line in the layers table");
      return;
    }
    for (const Include& include : find_includes(file)) {
      if (include.quoted) {
        check_our_include(file, *room, include);
      } else {
        check_outside_include(file, include);
      }
    }
  }

  void check_our_include(const SourceFile& file, const std::string& room, const Include& include) {
    const auto target = resolve(file, include.path);
    if (!target) {
      add("layer", file.path, include.line, fmt::format("\"{}\" is no file of ours", include.path));
      return;
    }
    included_.insert(*target);
    const auto other = architecture_.room_of(*target);
    const bool allowed = other && (is_test(file.path) ? architecture_.test_may_include(room, *other)
                                                      : architecture_.may_include(room, *other));
    if (!allowed) {
      add("layer", file.path, include.line, fmt::format("{} may not include \"{}\"", room, include.path));
    }
    // src/<room>/<header> is the room's face; what lies deeper is its own business.
    const bool deep = target->starts_with("src/") && std::count(target->begin(), target->end(), '/') > 2;
    if (deep && other != room && !is_test(file.path)) {
      add("privacy", file.path, include.line,
          fmt::format("\"{}\" lies in a subfolder of another room", include.path));
    }
  }

  void check_outside_include(const SourceFile& file, const Include& include) {
    // C++'s own headers are plain lower-case words; the C ones it renames (<stdint.h>) are not wanted.
    const bool standard = std::all_of(include.path.begin(), include.path.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9');
    });
    if (standard) return;
    const std::string reason = architecture_.refuse_header(file.path, include.path);
    if (!reason.empty()) add("header", file.path, include.line, reason);
  }

  void check_sizes(const SourceFile& file) {
    const int lines = static_cast<int>(split_lines(file.text).size());
    if (lines > kMaxFileLines) {
      add("file", file.path, 0,
          fmt::format("{} lines, limit {}: is there a room missing?", lines, kMaxFileLines), lines);
    }
    const auto functions = find_functions(file.text);
    if (!functions) {
      add("function", file.path, 0, "braces do not balance, so its functions cannot be measured");
      return;
    }
    for (const Function& function : *functions) {
      if (function.lines() <= kMaxFunctionLines) continue;
      add("function", file.path, function.first_line,
          fmt::format("{} has {} lines, limit {}", function.name, function.lines(), kMaxFunctionLines),
          function.lines());
    }
  }

  void check_words(const SourceFile& file) {
    // Spelt in two halves: this file is checked as well.
    static const std::array<std::string, 4> kWords = {
        "TO"
        "DO",
        "FIX"
        "ME",
        "X"
        "XX",
        "HA"
        "CK"};
    const auto lines = split_lines(file.text);
    for (size_t i = 0; i < lines.size(); ++i) {
      for (const std::string& word : kWords) {
        if (has_word(lines[i], word)) {
          add("word", file.path, static_cast<int>(i) + 1,
              fmt::format("{}: finish it, or say it in an issue", word));
        }
      }
    }
  }

  // No code outside the backend asks what it was built for.
  void check_directives(const SourceFile& file) {
    static const std::regex kBackend(
        R"(^\s*#\s*(if|ifdef|ifndef|elif)\b.*(CUDA|METAL|NEON|__AVX|AMX|__SSE|__FMA))");
    if (file.path.starts_with("src/backend/")) return;
    const std::string code = blank_comments_and_literals(file.text);
    const auto lines = split_lines(code);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (std::regex_search(lines[i].begin(), lines[i].end(), kBackend)) {
        add("ifdef", file.path, static_cast<int>(i) + 1,
            "only src/backend may ask which device or instructions it is built for");
      }
    }
  }

  void check_header_style(const SourceFile& file) {
    if (!file.text.starts_with("//")) {
      add("style", file.path, 1, "a header begins with a comment that says what it is for");
    }
    const std::string code = blank_comments_and_literals(file.text);
    if (!file.path.ends_with(".inl.h") && code.find("#pragma once") == std::string::npos) {
      add("style", file.path, 0, "a header has #pragma once");
    }
    static const std::regex kUsing(R"(\busing\s+namespace\b)");
    if (std::regex_search(code, kUsing)) {
      add("style", file.path, 0, "a header has no `using namespace`");
    }
  }

  // A source file stands in a list by its path from there, or from the project.
  void check_listed(const SourceFile& file) {
    for (const SourceFile& list : lists_) {
      std::string words = " " + list.text + " ";
      std::replace_if(
          words.begin(), words.end(), [](char c) { return c == '(' || c == ')' || c == '\n'; }, ' ');
      const auto lists = [&](const std::string& name) {
        return words.find(" " + name + " ") != std::string::npos;
      };
      // A .cmake file is included by the list of the folder above it, and its paths count from there.
      std::filesystem::path folder = std::filesystem::path(list.path).parent_path();
      if (list.path.ends_with(".cmake")) folder = folder.parent_path();
      const std::string prefix = folder.generic_string() + "/";
      if (file.path.starts_with(prefix) && lists(file.path.substr(prefix.size()))) return;
      if (lists("${PROJECT_SOURCE_DIR}/" + file.path)) return;
    }
    add("listed", file.path, 0, "no CMake list names this file: it is dead");
  }

  std::span<const SourceFile> sources_, lists_;
  const Architecture& architecture_;
  std::set<std::string> paths_;
  std::set<std::string> included_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_tree(std::span<const SourceFile> sources, std::span<const SourceFile> lists,
                                const Architecture& architecture) {
  return TreeCheck(sources, lists, architecture).run();
}

std::vector<Finding> apply_excuses(std::vector<Finding> findings, std::span<const Excuse> excuses) {
  for (const Excuse& excuse : excuses) {
    const auto same = [&](const Finding& finding) {
      return finding.rule == excuse.rule && finding.path == excuse.path && finding.size == excuse.size;
    };
    if (std::erase_if(findings, same) == 0) {
      findings.push_back({excuse.rule, excuse.path, 0, excuse.size,
                          "this excuse matches nothing any more: lower it or take it out"});
    }
  }
  return findings;
}

}  // namespace tempo9::tidy
