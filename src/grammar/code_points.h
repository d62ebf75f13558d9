// Sets of Unicode code points, as regular expressions and grammars write them. Surrogates are never part of
// one: no text in UTF-8 has them.
#pragma once
#include <string>
#include <vector>

namespace tempo9::grammar {

struct CodePointRange {
  char32_t first, last;
  bool operator==(const CodePointRange&) const = default;
};

class CodePointSet {
 public:
  CodePointSet() = default;
  CodePointSet(std::initializer_list<CodePointRange> ranges);
  static CodePointSet all() { return CodePointSet().complement(); }

  void add(CodePointRange range);
  void add(const CodePointSet& other);
  CodePointSet complement() const;
  CodePointSet intersect(const CodePointSet& other) const;
  CodePointSet without(const CodePointSet& other) const { return intersect(other.complement()); }

  bool empty() const { return ranges_.empty(); }
  bool contains(char32_t code_point) const;
  // Ascending, neither overlapping nor touching.
  const std::vector<CodePointRange>& ranges() const { return ranges_; }
  // As a character class of EBNF: "[a-z\x0A]". Of a set that is not empty.
  std::string to_class() const;

 private:
  std::vector<CodePointRange> ranges_;
};

}  // namespace tempo9::grammar
