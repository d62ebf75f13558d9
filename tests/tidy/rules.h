// The house rules that a machine can check. Each finding names the rule, the place and what to do.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tidy/architecture.h"
#include "tidy/source.h"

namespace tempo9::tidy {

inline constexpr int kMaxFunctionLines = 70;
inline constexpr int kMaxFileLines = 600;

struct Finding {
  std::string
      rule;  // "layer", "header", "privacy", "function", "file", "word", "ifdef", "style", "listed", "dead"
  std::string path;
  int line;  // counted from 1; 0 for the file as a whole
  int size;  // for "function" and "file": its lines
  std::string message;
};

// A size that is known to be too large. The list only shrinks: a size below the excused one is a finding too,
// until the excuse is lowered or taken out.
struct Excuse {
  std::string rule, path;
  int size;
};

// Looks at every C++ file against the rules. `lists` are the project's
// CMakeLists.txt and *.cmake files.
std::vector<Finding> check_tree(std::span<const SourceFile> sources, std::span<const SourceFile> lists,
                                const Architecture& architecture);

std::vector<Finding> apply_excuses(std::vector<Finding> findings, std::span<const Excuse> excuses);

}  // namespace tempo9::tidy
