#include "chat/reasoning_effort.h"

#include <algorithm>
#include <cstdlib>

namespace tempo9::chat {

std::optional<std::string> choose_effort(const std::string& asked, const std::vector<std::string>& accepted) {
  const auto place = [](std::string_view word) {
    return std::ranges::find(kEfforts, word) - kEfforts.begin();
  };
  const auto count = static_cast<std::ptrdiff_t>(kEfforts.size());
  const auto wanted = place(asked);
  if (wanted == count && accepted.empty()) return asked;
  static const std::vector<std::string> usual = {"low", "medium", "high"};
  std::optional<std::string> nearest;
  for (const std::string& word : accepted.empty() ? usual : accepted) {
    if (word == asked) return word;
    if (wanted == count) continue;
    if (!nearest || std::abs(place(word) - wanted) <= std::abs(place(*nearest) - wanted)) nearest = word;
  }
  return nearest;
}

}  // namespace tempo9::chat
