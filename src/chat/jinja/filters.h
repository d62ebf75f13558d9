// Jinja's filters: `value | name(arguments)`. Not here, and so unknown: those that draw at random, build HTML
// or look at Python's objects (random, urlize, xmlattr, pprint, striptags, wordwrap, filesizeformat).
#pragma once
#include <span>
#include <string_view>
#include <utility>

#include "chat/jinja/ast.h"

namespace tempo9::chat::jinja {

// Null if there is no such filter.
FilterFunction find_filter(std::string_view name);

// One table a file.
using FilterEntry = std::pair<std::string_view, FilterFunction>;
std::span<const FilterEntry> text_filters();
std::span<const FilterEntry> sequence_filters();
std::span<const FilterEntry> selection_filters();
std::span<const FilterEntry> number_filters();

}  // namespace tempo9::chat::jinja
