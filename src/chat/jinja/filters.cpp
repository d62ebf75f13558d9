#include "chat/jinja/filters.h"

#include <unordered_map>

namespace tempo9::chat::jinja {

FilterFunction find_filter(std::string_view name) {
  static const auto filters = [] {
    std::unordered_map<std::string_view, FilterFunction> map;
    for (const auto table : {text_filters(), sequence_filters(), selection_filters(), number_filters()}) {
      map.insert(table.begin(), table.end());
    }
    return map;
  }();
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

}  // namespace tempo9::chat::jinja
