// tempo9 run: one question, the answer streamed to the terminal.
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <mutex>
#include <queue>

#include "commands.h"
#include "engine/engine.h"
#include "engine/token_stream.h"
#include "options.h"
#include "question.h"

namespace tempo9::apps {
namespace {

struct Options {
  engine::EngineOptions engine;
  std::string prompt, system;
  bool raw = false, quiet = false;
  int max_tokens = 0;
  std::optional<float> temperature, top_p;
  uint64_t seed = 0;
};

// Hands events from the engine's thread to the one that prints.
class EventQueue final : public engine::EventSink {
 public:
  void on_event(engine::Event event) noexcept override {
    const std::lock_guard lock(mutex_);
    events_.push(std::move(event));
    changed_.notify_one();
  }
  engine::Event pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !events_.empty(); });
    engine::Event event = std::move(events_.front());
    events_.pop();
    return event;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<engine::Event> events_;
};

Result<std::vector<TokenId>> prepare(const engine::Engine& engine, const Options& options) {
  if (options.raw) return engine.prepare(options.prompt, {});
  TRY_ASSIGN(const chat::RenderedPrompt prompt,
             render_question(engine.info(), options.system, options.prompt));
  std::vector<text::Range> ranges;
  return engine.prepare(prompt.text, outside_content(prompt, ranges));
}

// Prints the reply as it comes; the engine's last word.
engine::Finished print_reply(const engine::Engine& engine, EventQueue& events) {
  engine::TokenStream stream(engine.tokenizer(), {});
  for (;;) {
    engine::Event event = events.pop();
    if (auto* finished = std::get_if<engine::Finished>(&event)) {
      std::printf("%s\n", stream.finish().text.c_str());
      return std::move(*finished);
    }
    std::fputs(stream.push(std::get<engine::TokenChosen>(event).choice.token).text.c_str(), stdout);
    std::fflush(stdout);
  }
}

void print_speed(const engine::Usage& usage) {
  const auto seconds = [](std::chrono::nanoseconds t) { return std::chrono::duration<double>(t).count(); };
  std::fprintf(stderr, "prompt: %d tokens, %.1f tokens/s; reply: %d tokens, %.1f tokens/s\n",
               usage.prompt_tokens, usage.prompt_tokens / seconds(usage.prompt_time), usage.completion_tokens,
               usage.completion_tokens / seconds(usage.generation_time));
}

int run(Options options) {
  if (options.prompt.empty()) options.prompt.assign(std::istreambuf_iterator<char>(std::cin), {});
  auto loaded = engine::load_engine(options.engine, show_progress());
  if (!loaded) return report(loaded.error());
  engine::Engine& engine = **loaded;
  auto prompt = prepare(engine, options);
  if (!prompt) return report(prompt.error());
  engine::Request request{std::move(*prompt), engine.info().default_sampling, options.max_tokens};
  if (options.temperature) request.sampling.temperature = *options.temperature;
  if (options.top_p) request.sampling.top_p = *options.top_p;
  request.sampling.seed = options.seed;
  const auto events = std::make_shared<EventQueue>();
  if (const auto id = engine.submit(std::move(request), events); !id) return report(id.error());
  const engine::Finished finished = print_reply(engine, *events);
  if (finished.reason == engine::FinishReason::kError) return report(finished.error);
  if (::isatty(STDERR_FILENO) && !options.quiet) print_speed(finished.usage);
  return 0;
}

}  // namespace

Command add_run(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "Ask one question and print the answer as it comes");
  add_engine_options(*command, options->engine);
  command->add_option("prompt", options->prompt, "The question; standard input if left out");
  command->add_option("--system", options->system, "A system message");
  command->add_flag("--raw", options->raw, "Continue the text as it is, without the chat template");
  command
      ->add_option("--max-tokens", options->max_tokens, "Tokens of the answer at most (0: up to the context)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--temperature", options->temperature, "0: always the most probable token");
  command->add_option("--top-p", options->top_p,
                      "Choose among the most probable tokens that make up this share");
  command->add_option("--seed", options->seed, "The same seed gives the same answer")->capture_default_str();
  command->add_flag("--quiet", options->quiet, "No figures after the answer");
  return [options] { return run(*options); };
}

}  // namespace tempo9::apps
