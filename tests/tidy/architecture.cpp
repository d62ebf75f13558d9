#include "tidy/architecture.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidy/source.h"

namespace tempo9::tidy {
namespace {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trim(text)).empty()) {
    const size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

// The lines between ```name and ```.
std::vector<std::string_view> fenced_block(std::string_view page, std::string_view name) {
  std::vector<std::string_view> block;
  bool inside = false;
  for (const std::string_view line : split_lines(page)) {
    if (inside && line.starts_with("```")) break;
    if (inside) block.push_back(line);
    if (line == fmt::format("```{}", name)) inside = true;
  }
  return block;
}

struct Row {
  std::vector<std::string> left, right;
};
std::optional<std::vector<Row>> parse_rows(const std::vector<std::string_view>& block) {
  std::vector<Row> rows;
  for (const std::string_view line : block) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    rows.push_back({split_words(line.substr(0, colon)), split_words(line.substr(colon + 1))});
    if (rows.back().left.empty()) return std::nullopt;
  }
  return rows;
}

bool matches(std::string_view pattern, std::string_view header) {
  if (pattern.ends_with('*')) return header.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == header;
}

// A path as the headers table names places: without src/, so rooms and their subfolders stand first.
std::string_view place_of(std::string_view path) {
  if (path.starts_with("src/")) path.remove_prefix(4);
  return path;
}

}  // namespace

bool is_test(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto holds = [](std::string_view text, std::string_view part) {
    return text.find(part) != text.npos;
  };
  const bool outside = path.starts_with("tests/") || path.starts_with("fuzz/") || path.starts_with("bench/");
  return outside || holds(path, "/testing/") || holds(name, "_test.") || holds(name, "_test_");
}

std::optional<Architecture> Architecture::parse(std::string_view page) {
  const auto layers = parse_rows(fenced_block(page, "layers"));
  const auto headers = parse_rows(fenced_block(page, "headers"));
  if (!layers || !headers || layers->empty() || headers->empty()) return std::nullopt;
  Architecture architecture;
  for (const Row& row : *layers) {
    if (row.left.size() != 1) return std::nullopt;
    architecture.layers_[row.left[0]].insert(row.right.begin(), row.right.end());
  }
  for (const Row& row : *headers) architecture.headers_.push_back({row.left, row.right});
  return architecture;
}

std::optional<std::string> Architecture::room_of(std::string_view path) const {
  const std::string_view place = place_of(path);
  const std::string room(place.substr(0, place.find('/')));
  return layers_.contains(room) ? std::optional(room) : std::nullopt;
}

bool Architecture::may_include(const std::string& room, const std::string& other) const {
  const std::set<std::string>& allowed = layers_.at(room);
  return room == other || allowed.contains("*") || allowed.contains(other);
}

bool Architecture::test_may_include(const std::string& room, const std::string& other) const {
  if (other == "tests" || may_include(room, other)) return true;
  const std::set<std::string>& allowed = layers_.at(room);
  return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& below) {
    return layers_.contains(below) && test_may_include(below, other);
  });
}

std::string Architecture::refuse_header(std::string_view path, std::string_view header) const {
  std::string where;
  for (const HeaderRule& rule : headers_) {
    const bool about_it = std::any_of(rule.patterns.begin(), rule.patterns.end(),
                                      [&](const std::string& pattern) { return matches(pattern, header); });
    if (!about_it) continue;
    for (const std::string& place : rule.places) {
      const bool inside = place_of(path).starts_with(place + "/");
      if (place == "*" || inside || (place == "tests" && is_test(path))) return "";
      where += " " + place;
    }
  }
  if (where.empty()) return fmt::format("<{}> is in no line of the headers table", header);
  return fmt::format("<{}> may be included only in:{}", header, where);
}

}  // namespace tempo9::tidy
