// write_by_grammar MODEL.gguf [--texts N] [--tokens N]
// Reads forms on standard input, a line of JSON each: {"schema": …}, {"regex": "…"}, {"ebnf": "…"} or
// {"lark": "…"}, and writes N texts for each by drawing at random among the tokens that the grammar allows,
// until one ends or has become too long. Prints a line of JSON for each form:
//   {"error": "…"}  or  {"texts": ["…", null, …], "compile_ms": 1.5, "mask_us": […]}      null: it has become
//   too long
#include <fmt/format.h>

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

// Draws tokens. A text that has become long is brought to its end with tokens that close what is open.
class Author {
 public:
  Author(const text::Tokenizer& tokenizer, const Options& options)
      : tokenizer_(tokenizer), options_(options) {
    for (TokenId token = 0; token < tokenizer.vocabulary_size(); ++token) {
      const std::string_view bytes = tokenizer.bytes(token, false);
      closing_.push_back(!bytes.empty() && bytes.find_first_not_of("\"}]") == bytes.npos);
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
  TokenId draw(grammar::TokenMask mask, bool hurry) {
    std::vector<TokenId> allowed, closing;
    for (TokenId token = 0; token < tokenizer_.vocabulary_size(); ++token) {
      if ((mask[static_cast<size_t>(token) / 32] >> (token % 32) & 1) == 0) continue;
      if (tokenizer_.ends_generation(token) && (hurry || random_() % 2 == 0)) return token;
      allowed.push_back(token);
      if (closing_[static_cast<size_t>(token)]) closing.push_back(token);
    }
    const bool close = !closing.empty() && (hurry || random_() % 8 == 0);
    const std::vector<TokenId>& choice = close ? closing : allowed;
    return choice.empty() ? -1 : choice[random_() % choice.size()];
  }

  const text::Tokenizer& tokenizer_;
  const Options& options_;
  std::vector<bool> closing_;
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
