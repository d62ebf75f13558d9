// How hard the model should think, in a word that its template knows.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempo9::chat {

// The words that clients use, from little to much.
inline constexpr std::array<std::string_view, 6> kEfforts = {"minimal", "low",   "medium",
                                                             "high",    "xhigh", "max"};

// The accepted word that comes nearest to the one asked for, of two as near the greater; nothing where none
// can be told. `accepted` empty means a template that takes every word: it gets low, medium or high, which
// are what models have been trained with, and a word that is on no scale as it is.
std::optional<std::string> choose_effort(const std::string& asked, const std::vector<std::string>& accepted);

}  // namespace tempo9::chat
