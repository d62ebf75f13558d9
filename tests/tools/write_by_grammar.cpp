// write_by_grammar MODEL.gguf [--texts N] [--tokens N]
// Reads forms on standard input, a line of JSON each: {"schema": …}, {"regex": "…"}, {"ebnf": "…"} or
// {"lark": "…"}, and writes N texts for each by drawing at random among the tokens that the grammar allows,
// until one ends or has become too long. Prints a line of JSON for each form:
//   {"error": "…"}  or  {"texts": ["…", null, …], "compile_ms": 1.5, "mask_us": […]}      null: it has become
//   too long
#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <future>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "gguf/file.h"
#include "grammar/compiler.h"
#include "grammar/matcher.h"
#include "text/tokenizer.h"

namespace tempo9 {
namespace {

using Clock = std::chrono::steady_clock;
using grammar::Form;
using grammar::Json;

struct Options {
  int texts = 1, tokens = 400;
};

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

Form read_form(const Json& line) {
  if (line.contains("schema")) return grammar::schema_form(line["schema"], "schema");
  constexpr std::pair<const char*, Form::Kind> kKinds[] = {
      {"regex", Form::Kind::kRegex}, {"ebnf", Form::Kind::kEbnf}, {"lark", Form::Kind::kLark}};
  Form form;
  for (const auto& [name, kind] : kKinds)
    if (line.contains(name)) form = {kind, line[name].get<std::string>()};
  return form;
}

using Words = std::vector<uint32_t>;

// Draws tokens. A text that has become long is brought to its end with tokens that close what is open.
class Author {
 public:
  Author(const text::Tokenizer& tokenizer, const Options& options)
      : tokenizer_(tokenizer), options_(options) {
    const auto size = static_cast<size_t>(tokenizer.vocabulary_size());
    closing_.resize((size + 31) / 32);
    ending_.resize(closing_.size());
    for (size_t token = 0; token < size; ++token) {
      const std::string_view bytes = tokenizer.bytes(static_cast<TokenId>(token), false);
      const bool closes = !bytes.empty() && bytes.find_first_not_of("\"}]") == bytes.npos;
      closing_[token / 32] |= uint32_t{closes} << token % 32;
      ending_[token / 32] |= uint32_t{tokenizer.ends_generation(static_cast<TokenId>(token))} << token % 32;
    }
  }

  Result<Json> write(const std::shared_ptr<const grammar::CompiledGrammar>& compiled,
                     std::vector<double>& mask_us) {
    TRY_ASSIGN(grammar::Matcher matcher, grammar::Matcher::make(compiled));
    std::string text;
    for (int i = 0; i < 2 * options_.tokens; ++i) {
      const auto begin = Clock::now();
      TRY_ASSIGN(const grammar::TokenMask mask, matcher.allowed());
      mask_us.push_back(microseconds_since(begin));
      const TokenId token = draw(mask, i >= options_.tokens);
      if (token < 0) return fail(ErrorCode::kInternal, "no token is allowed after {}", Json(text).dump());
      if (tokenizer_.ends_generation(token)) return Json(text);
      text += tokenizer_.bytes(token, false);
      TRY(matcher.accept(token));
    }
    return Json();
  }

 private:
  // One of the tokens in both, each with the same chance; -1 if there is none.
  TokenId any_of(grammar::TokenMask mask, const Words& among) {
    size_t count = 0;
    for (size_t i = 0; i < mask.size(); ++i) count += static_cast<size_t>(std::popcount(mask[i] & among[i]));
    if (count == 0) return -1;
    size_t left = random_() % count;
    for (size_t i = 0;; ++i) {
      uint32_t word = mask[i] & among[i];
      const auto here = static_cast<size_t>(std::popcount(word));
      if (left >= here) {
        left -= here;
        continue;
      }
      for (; left > 0; --left) word &= word - 1;
      return static_cast<TokenId>(i * 32) + std::countr_zero(word);
    }
  }

  TokenId draw(grammar::TokenMask mask, bool hurry) {
    if (hurry || random_() % 2 == 0)
      if (const TokenId end = any_of(mask, ending_); end >= 0) return end;
    if (hurry || random_() % 8 == 0)
      if (const TokenId closing = any_of(mask, closing_); closing >= 0) return closing;
    return any_of(mask, Words(mask.size(), ~0u));
  }

  const text::Tokenizer& tokenizer_;
  const Options& options_;
  Words closing_, ending_;
  std::mt19937 random_{1};
};

Json answer(const std::string& line, grammar::Compiler& compiler, Author& author, const Options& options) {
  std::promise<grammar::Compiled> promise;
  const auto begin = Clock::now();
  compiler.compile(read_form(Json::parse(line)),
                   [&](grammar::Compiled compiled) { promise.set_value(std::move(compiled)); });
  const auto compiled = promise.get_future().get();
  if (!compiled) return {{"error", compiled.error().message}};
  Json result = {{"texts", Json::array()}, {"compile_ms", microseconds_since(begin) / 1000}};
  std::vector<double> mask_us;
  for (int i = 0; i < options.texts; ++i) {
    const auto text = author.write(*compiled, mask_us);
    if (!text) return {{"error", text.error().message}, {"failed", true}};
    result["texts"].push_back(*text);
  }
  result["mask_us"] = mask_us;
  return result;
}

int run(const std::string& path, const Options& options) {
  const auto file = gguf::File::open(path);
  const auto tokenizer =
      file ? text::make_tokenizer((*file)->metadata()) : tl::unexpected<Error>(file.error());
  if (!tokenizer) {
    fmt::print(stderr, "{}\n", tokenizer.error().message);
    return 1;
  }
  grammar::Compiler compiler(**tokenizer);
  Author author(**tokenizer, options);
  for (std::string line; std::getline(std::cin, line);)
    fmt::print("{}\n",
               answer(line, compiler, author, options).dump(-1, ' ', true, Json::error_handler_t::replace));
  return 0;
}

}  // namespace
}  // namespace tempo9

int main(int count, char** words) {
  tempo9::Options options;
  std::string model;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--texts" && i + 1 < count)
      options.texts = std::stoi(words[++i]);
    else if (word == "--tokens" && i + 1 < count)
      options.tokens = std::stoi(words[++i]);
    else
      model = word;
  }
  if (!model.empty()) return tempo9::run(model, options);
  fmt::print(stderr, "usage: write_by_grammar MODEL.gguf [--texts N] [--tokens N]\n");
  return 2;
}
