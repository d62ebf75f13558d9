// tempo9 bench: speed of prompts and of generation, as numbers for people and for scripts.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "engine/evaluate.h"
#include "options.h"

namespace tempo9::apps {
namespace {

struct Options {
  engine::EngineOptions engine;
  int prompt = 512, generate = 128, depth = 0, streams = 1, turns = 3;
  bool json = false;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Status measure(engine::Evaluator& evaluator, const Options& options, double& prompt_speed,
               double& generation_speed) {
  std::vector<double> prompts, generations;
  TRY(evaluator.time_prompt(std::min(options.prompt, 64),
                            0));  // first touch of weights and pages is not what is measured
  for (int t = 0; t < options.turns; ++t) {
    TRY_ASSIGN(const double p, evaluator.time_prompt(options.prompt, options.depth));
    TRY_ASSIGN(const double g, evaluator.time_generation(options.generate, options.depth, options.streams));
    prompts.push_back(options.prompt / p);
    generations.push_back(options.generate * options.streams / g);
  }
  prompt_speed = median(prompts), generation_speed = median(generations);
  return {};
}

int run(const Options& options) {
  auto evaluator = engine::Evaluator::load(options.engine, options.streams, show_progress());
  if (!evaluator) return report(evaluator.error());
  double prompt_speed = 0, generation_speed = 0;
  if (const Status done = measure(**evaluator, options, prompt_speed, generation_speed); !done)
    return report(done.error());
  if (options.json) {
    const nlohmann::ordered_json result = {{"device", (*evaluator)->device_description()},
                                           {"prompt_tokens_per_second", prompt_speed},
                                           {"generation_tokens_per_second", generation_speed}};
    std::printf("%s\n", result.dump().c_str());
  } else {
    std::printf(
        "%s, depth %d, median of %d\nprompt of %d: %.1f tokens/s\ngeneration of %d in %d streams: %.1f "
        "tokens/s\n",
        (*evaluator)->device_description().c_str(), options.depth, options.turns, options.prompt,
        prompt_speed, options.generate, options.streams, generation_speed);
  }
  return 0;
}

}  // namespace

Command add_bench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench", "Measure the speed of prompts and of generation");
  add_engine_options(*command, options->engine);
  command->add_option("--prompt", options->prompt, "Tokens of the prompt")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--generate", options->generate, "Tokens to generate")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--depth", options->depth, "Tokens that stand before, not counted")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--streams", options->streams, "Sequences that generate together; their tokens count")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--turns", options->turns, "Repetitions; the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  return [options] { return run(*options); };
}

}  // namespace tempo9::apps
