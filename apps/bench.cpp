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
  bool profile = false, json = false;
};

// The turns' speeds, and where the last turn's time went.
struct Measured {
  std::vector<double> speeds;  // tokens per second
  engine::Timing last;

  void add(int tokens, engine::Timing timing) {
    speeds.push_back(tokens / timing.seconds);
    last = std::move(timing);
  }
  double median() const {
    std::vector<double> sorted = speeds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  // Microseconds in each kind of operation, and between operations.
  nlohmann::ordered_json profile() const {
    nlohmann::ordered_json result;
    double rest = last.seconds;
    for (const auto& [name, seconds] : last.operations) {
      result[std::string(name)] = seconds * 1e6;
      rest -= seconds;
    }
    result["between"] = rest * 1e6;
    return result;
  }
};

Status measure(engine::Evaluator& evaluator, const Options& options, Measured& prompt, Measured& generation) {
  TRY(evaluator.time_prompt(std::min(options.prompt, 64),
                            0));  // first touch of weights and pages is not what is measured
  for (int t = 0; t < options.turns; ++t) {
    TRY_ASSIGN(engine::Timing read, evaluator.time_prompt(options.prompt, options.depth));
    prompt.add(options.prompt, std::move(read));
    TRY_ASSIGN(engine::Timing written,
               evaluator.time_generation(options.generate, options.depth, options.streams));
    generation.add(options.generate * options.streams, std::move(written));
  }
  return {};
}

void print_profile(const char* what, const Measured& measured) {
  std::printf("\n%s, microseconds:\n", what);
  const nlohmann::ordered_json profile = measured.profile();
  for (const auto& [name, microseconds] : profile.items())
    std::printf("  %-16s %12.0f  %5.1f%%\n", name.c_str(), microseconds.get<double>(),
                microseconds.get<double>() / measured.last.seconds * 1e-4);
}

void print(const Options& options, const std::string& device, const Measured& prompt,
           const Measured& generation) {
  std::printf("%s, depth %d, median of %d\n", device.c_str(), options.depth, options.turns);
  std::printf("prompt of %d: %.1f tokens/s\n", options.prompt, prompt.median());
  std::printf("generation of %d in %d streams: %.1f tokens/s\n", options.generate, options.streams,
              generation.median());
  if (!options.profile) return;
  print_profile("Prompt", prompt);
  print_profile("Generation", generation);
}

int run(const Options& options) {
  engine::EngineOptions engine_options = options.engine;
  engine_options.timed = options.profile;
  auto evaluator = engine::Evaluator::load(engine_options, options.streams, show_progress());
  if (!evaluator) return report(evaluator.error());
  Measured prompt, generation;
  if (const Status done = measure(**evaluator, options, prompt, generation); !done)
    return report(done.error());
  const std::string device = (*evaluator)->device_description();
  if (!options.json) {
    print(options, device, prompt, generation);
    return 0;
  }
  const nlohmann::ordered_json result = {{"device", device},
                                         {"weight_bytes", (*evaluator)->weight_bytes()},
                                         {"prompt_tokens_per_second", prompt.median()},
                                         {"generation_tokens_per_second", generation.median()},
                                         {"prompt_microseconds", prompt.profile()},
                                         {"generation_microseconds", generation.profile()}};
  std::printf("%s\n", result.dump().c_str());
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
  command->add_flag("--profile", options->profile, "Show which operations the last turn's time went to");
  command->add_flag("--json", options->json, "Print one JSON object");
  return [options] { return run(*options); };
}

}  // namespace tempo9::apps
