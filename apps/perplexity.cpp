// tempo9 perplexity: how well a model predicts a text.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include "commands.h"
#include "engine/evaluate.h"
#include "options.h"

namespace tempo9::apps {
namespace {

constexpr int kLogitRows = 64;

struct Options {
  engine::EngineOptions engine;
  std::string file;
  int context = 512;
};

int run(const Options& options) {
  std::ifstream input(options.file, std::ios::binary);
  if (!input) return report({ErrorCode::kIo, fmt::format("cannot read '{}'", options.file)});
  const std::string text{std::istreambuf_iterator<char>(input), {}};
  auto evaluator = engine::Evaluator::load(options.engine, kLogitRows, show_progress());
  if (!evaluator) return report(evaluator.error());
  const auto result =
      engine::perplexity(**evaluator, text, options.context, [](int window, int windows, double so_far) {
        std::fprintf(stderr, "window %d of %d: %.4f\n", window, windows, so_far);
      });
  if (!result) return report(result.error());
  std::printf("%s, %d tokens counted, windows of %d\n%.4f\n", (*evaluator)->device_description().c_str(),
              result->tokens, options.context, result->value);
  return 0;
}

}  // namespace

Command add_perplexity(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "perplexity", "Measure how well a model predicts a text; the last number printed is the result");
  add_engine_options(*command, options->engine);
  command->add_option("--file", options->file, "The text")->required()->check(CLI::ExistingFile);
  command->add_option("--context", options->context, "Tokens of a window; its second half counts")
      ->capture_default_str();
  return [options] { return run(*options); };
}

}  // namespace tempo9::apps
