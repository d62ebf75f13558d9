// Who may include whom, read from the two tables in docs/architecture.md, so that page and test cannot
// disagree.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tempo9::tidy {

class Architecture {
 public:
  // Takes the page's text. Empty if it lacks a block fenced ```layers or ```headers, or a line in one is not
  // `name: names`.
  static std::optional<Architecture> parse(std::string_view page);

  // The room that a path belongs to: `chat` for src/chat/parsers/x.cpp, `apps`, `tests`, `bench` or `fuzz`
  // for what lies there. Empty if the page does not know it.
  std::optional<std::string> room_of(std::string_view path) const;

  // A room may include itself and the rooms on its line.
  bool may_include(const std::string& room, const std::string& other) const;
  // Its tests may also reach what those rooms may include in turn.
  bool test_may_include(const std::string& room, const std::string& other) const;

  // Whether a file may include <header>, which is not one of C++'s own. Empty means yes; otherwise the
  // reason.
  std::string refuse_header(std::string_view path, std::string_view header) const;

 private:
  struct HeaderRule {
    std::vector<std::string> patterns;  // "sys/mman.h", or "sys/*" for all below
    std::vector<std::string> places;    // "base", "backend/host", or "*" for everywhere
  };
  std::map<std::string, std::set<std::string>> layers_;
  std::vector<HeaderRule> headers_;
};

// A test lies beside the source as x_test.cpp, or under tests/, fuzz/ or bench/; what several tests of a room
// share, beside them as x_test_y.* or under testing/.
bool is_test(std::string_view path);

}  // namespace tempo9::tidy
