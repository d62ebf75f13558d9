// tokenize_lines MODEL.gguf [--special everywhere|nowhere] [--time]
// Reads strings on standard input, each a 32-bit little-endian length and that many bytes, and prints one
// line of ids for each. With --time prints nothing but the seconds of processor time that encoding took.
#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "gguf/file.h"
#include "text/tokenizer.h"

namespace {

using tempo9::text::SpecialTokens;

struct Options {
  std::string model;
  SpecialTokens special;
  bool time = false;
};

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--time") {
      options.time = true;
    } else if (word == "--special" && i + 1 < count) {
      const std::string where = words[++i];
      if (where != "everywhere" && where != "nowhere") return false;
      options.special.recognise =
          where == "nowhere" ? SpecialTokens::Recognise::kNowhere : SpecialTokens::Recognise::kEverywhere;
    } else if (options.model.empty()) {
      options.model = word;
    } else {
      return false;
    }
  }
  return !options.model.empty();
}

std::vector<std::string_view> cut(std::string_view input) {
  std::vector<std::string_view> strings;
  while (input.size() >= sizeof(uint32_t)) {
    uint32_t length = 0;
    std::memcpy(&length, input.data(), sizeof(length));
    strings.push_back(input.substr(sizeof(length), length));
    input.remove_prefix(sizeof(length) + strings.back().size());
  }
  return strings;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  if (!parse(count, words, options)) {
    fmt::print(stderr, "usage: tokenize_lines MODEL.gguf [--special everywhere|nowhere] [--time]\n");
    return 2;
  }
  const auto file = tempo9::gguf::File::open(options.model);
  if (!file) {
    fmt::print(stderr, "{}\n", file.error().message);
    return 1;
  }
  const auto tokenizer = tempo9::text::make_tokenizer((*file)->metadata());
  if (!tokenizer) {
    fmt::print(stderr, "{}\n", tokenizer.error().message);
    return 1;
  }
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  const auto strings = cut(input);
  const std::clock_t start = std::clock();
  for (const std::string_view string : strings) {
    const auto ids = (*tokenizer)->encode(string, options.special);
    if (!options.time) fmt::print("{}\n", fmt::join(ids, " "));
  }
  if (options.time) fmt::print("{:.6f}\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  return 0;
}
