// tempo9 matrix: which models do what they should, found out by running them, as a page in Markdown.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "engine/supported.h"
#include "engine/trial.h"
#include "gguf/file.h"
#include "options.h"
#include "trial_questions.h"

namespace tempo9::apps {
namespace {

constexpr int kLogitRows = 64;
constexpr int kRightAnswers = 2;  // of four: models of a hundred million weights know little

// Of the surprise at a passage, what may be left when it comes again. SmolLM2-135M, the smallest model of
// English at hand, has 0.09 after 4096 tokens, and with a rotary base ten times too large 0.18, too small 3.
// Larger models have less.
constexpr double kLargestShare = 0.125;
// Nats per token beyond which a model does not know English prose; it is then asked for a fact instead of
// foreseeing a passage.
constexpr double kKnowsProse = 5.0;

// How far our figures may lie from known ones. Inputs of 8 bits move the mean over 350 tokens by 0.005, over
// the 150 of a passage by 0.02, more where the model is unsure. A rotary base ten times too small moves
// SmolLM2's by 0.1 and 0.5.
constexpr double kProseTolerance = 0.03, kRecallTolerance = 0.05, kRecallShareTolerance = 0.03;
constexpr int kKnownRecallTokens = 1024;

struct Options {
  engine::EngineOptions engine;
  std::vector<std::string> files;
  std::string known;
  int longest_prompt = 4096;
  bool show_ids = false;
};

enum class Verdict { kAbsent, kPass, kFail, kNotClaimed };
constexpr const char* kVerdictNames[] = {"ABSENT", "PASS", "FAIL", "N/A"};

Verdict verdict(bool good) {
  return good ? Verdict::kPass : Verdict::kFail;
}

// One line of the table.
struct Row {
  std::string file{}, architecture{}, format{};
  Verdict load = Verdict::kAbsent, answer = Verdict::kAbsent, prompt = Verdict::kAbsent,
          reference = Verdict::kAbsent, image = Verdict::kAbsent;
  std::vector<std::string> notes{};

  std::array<Verdict, 5> verdicts() const { return {load, answer, prompt, reference, image}; }
  bool failed() const {
    const auto all = verdicts();
    return std::find(all.begin(), all.end(), Verdict::kFail) != all.end();
  }
};

void print(const Row& row) {
  std::printf("| %s | %s | %s |", row.file.c_str(), row.architecture.c_str(), row.format.c_str());
  for (const Verdict v : row.verdicts()) std::printf(" %s |", kVerdictNames[static_cast<size_t>(v)]);
  std::printf(" %s |\n", fmt::format("{}", fmt::join(row.notes, "; ")).c_str());
  std::fflush(stdout);
}

bool has_random_weights(const gguf::File& file) {
  const auto tags = file.metadata().strings("general.tags");
  return tags && std::find(tags->begin(), tags->end(), "random-weights") != tags->end();
}

Status try_answers(engine::Evaluator& evaluator, Row& row) {
  TRY_ASSIGN(const Answers answers, ask_short_questions(evaluator));
  row.answer = verdict(answers.right >= kRightAnswers);
  row.notes.push_back(fmt::format("{} of {} answers right", answers.right, answers.asked));
  if (row.answer == Verdict::kFail) row.notes.push_back(answers.first_wrong);
  return {};
}

Status try_long_prompt(engine::Evaluator& evaluator, int longest, double prose, Row& row) {
  const int tokens = std::min(longest, evaluator.info().context_length);
  if (tokens < engine::kLeastRecallTokens) {
    row.notes.push_back(fmt::format("a context of {} is too short for a long prompt", tokens));
    return {};
  }
  if (prose > kKnowsProse) {
    TRY_ASSIGN(const Answers answers, ask_for_early_fact(evaluator, tokens));
    row.prompt = verdict(answers.right == answers.asked);
    row.notes.push_back(
        fmt::format("fact {} {} tokens ago", answers.right == 1 ? "found" : "not found", tokens));
    return {};
  }
  TRY_ASSIGN(const engine::Recall recall, engine::measure_recall(evaluator, tokens));
  row.prompt = verdict(recall.share() <= kLargestShare);
  row.notes.push_back(fmt::format("passage {:.2f}, again after {} tokens {:.3f}", recall.first_time,
                                  recall.tokens, recall.again));
  return {};
}

Status compare_with_known(engine::Evaluator& evaluator, const nlohmann::json& known, double prose, Row& row) {
  const auto entry = known.find(row.file);
  if (entry == known.end()) return {};
  TRY_ASSIGN(const engine::Recall recall, engine::measure_recall(evaluator, kKnownRecallTokens));
  const double known_prose = entry->at("prose"), known_again = entry->at("again");
  const double recall_tolerance = std::max(kRecallTolerance, kRecallShareTolerance * known_again);
  row.reference = verdict(std::abs(prose - known_prose) <= kProseTolerance &&
                          std::abs(recall.again - known_again) <= recall_tolerance);
  row.notes.push_back(fmt::format("known {:.3f} and {:.3f}, here {:.3f} and {:.3f}", known_prose, known_again,
                                  prose, recall.again));
  return {};
}

Status try_model(const Options& options, const nlohmann::json& known, const gguf::File& file, Row& row) {
  auto loaded = engine::Evaluator::load(options.engine, kLogitRows, show_progress());
  row.load = verdict(loaded.has_value());
  if (!loaded) return fail(loaded.error().code, "{}", loaded.error().message);
  engine::Evaluator& evaluator = **loaded;
  row.format = evaluator.info().quantisation;
  TRY_ASSIGN(const double prose, engine::measure_prose(evaluator));
  row.notes.push_back(fmt::format("prose {:.3f} nats", prose));
  if (!std::isfinite(prose)) {
    row.answer = row.prompt = Verdict::kFail;
    return {};
  }
  TRY(compare_with_known(evaluator, known, prose, row));
  if (has_random_weights(file)) {
    row.answer = row.prompt = Verdict::kNotClaimed;
    row.notes.push_back("random weights: knows nothing");
    return {};
  }
  TRY(try_answers(evaluator, row));
  return try_long_prompt(evaluator, options.longest_prompt, prose, row);
}

Row try_file(const Options& options, const nlohmann::json& known, const std::string& path) {
  Row row{.file = std::filesystem::path(path).filename()};
  const auto file = gguf::File::open(path);
  if (!file) {
    row.load = Verdict::kFail;
    row.notes.push_back(file.error().message);
    return row;
  }
  row.architecture = (*file)->metadata().string_or("general.architecture", "").value_or("");
  const auto claims = engine::supported_architectures();
  const auto claim =
      std::find_if(claims.begin(), claims.end(), [&](const auto& c) { return c.name == row.architecture; });
  if (claim == claims.end()) {
    row.load = row.answer = row.prompt = row.reference = row.image = Verdict::kNotClaimed;
    row.notes.push_back("architecture not claimed");
    return row;
  }
  if (!claim->takes_images) row.image = Verdict::kNotClaimed;
  Options of_file = options;
  of_file.engine.model_path = path;
  if (const Status done = try_model(of_file, known, **file, row); !done) {
    if (row.load == Verdict::kPass) row.answer = Verdict::kFail;
    row.notes.push_back(done.error().message);
  }
  return row;
}

void print_claims() {
  std::printf(
      "# Models\n\n"
      "Written by `tempo9 matrix`; `make matrix` runs it on the models at hand.\n\n"
      "## What is claimed\n\n"
      "Every architecture computes the logits of tiny random models as an independent float64 reference "
      "does, on every "
      "device (`tests/architecture_reference_test.py`). Whether a published file runs is another question: "
      "see below.\n\n"
      "| Architecture | Models | Text | Images |\n| --- | --- | --- | --- |\n");
  for (const auto& a : engine::supported_architectures())
    std::printf("| %s | %s | yes | %s |\n", std::string(a.name).c_str(), std::string(a.models).c_str(),
                a.takes_images ? "yes" : "no");
}

void print_head(const Options& options) {
  std::printf(
      "\n## What was found by running\n\n"
      "PASS and FAIL are results; ABSENT was not run, for want of a file or of known figures; N/A is not "
      "claimed.\n\n"
      "- *Load*: every tensor of the file is known, has its shape, and is in memory.\n"
      "- *Short answer*: at least %d of 4 simple questions, through the model's own chat template "
      "(without one, as texts to continue), greedily.\n"
      "- *Long prompt*: a passage that a prompt of %d tokens (or the model's context) begins and ends with "
      "surprises at its "
      "end by at most %.1f%% of the nats at its beginning. A model that does not know English prose (over "
      "%.0f nats a token) "
      "must instead find a fact that the prompt begins with.\n"
      "- *Reference*: the surprise at a page of prose and at a passage that comes again are what an "
      "independent program "
      "computes from the same file.\n\n"
      "| File | Architecture | Format | Load | Short answer | Long prompt | Reference | Images | Notes |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
      kRightAnswers, options.longest_prompt, 100 * kLargestShare, kKnowsProse);
}

Result<nlohmann::json> read_known(const std::string& path) {
  if (path.empty()) return nlohmann::json::object();
  std::ifstream input(path);
  nlohmann::json known = nlohmann::json::parse(input, nullptr, false);
  if (!input || !known.is_object())
    return fail(ErrorCode::kInvalidArgument, "'{}' cannot be read as a JSON object", path);
  for (const auto& [file, figures] : known.items())
    for (const char* name : {"prose", "again"})
      if (!figures.is_object() || !figures.contains(name) || !figures[name].is_number())
        return fail(ErrorCode::kInvalidArgument, "'{}': '{}' has no number '{}'", path, file, name);
  return known;
}

// What is measured for 'prose' and 'again': file, figure, first token that counts, ids.
int show_ids(const Options& options) {
  for (const std::string& path : options.files) {
    engine::EngineOptions engine = options.engine;
    engine.model_path = path;
    auto loaded = engine::Evaluator::load(engine, kLogitRows, {});
    if (!loaded) return report(loaded.error());
    const engine::ProseText prose = engine::make_prose_text((*loaded)->tokenizer());
    const auto recall = engine::make_recall_text((*loaded)->tokenizer(), kKnownRecallTokens);
    if (!recall) return report(recall.error());
    const std::string file = std::filesystem::path(path).filename();
    fmt::print("{} prose {} {}\n", file, prose.first, fmt::join(prose.ids, ","));
    fmt::print("{} again {} {}\n", file, recall->again, fmt::join(recall->ids, ","));
  }
  return 0;
}

int run(const Options& options) {
  if (options.show_ids) return show_ids(options);
  const auto known = read_known(options.known);
  if (!known) return report(known.error());
  print_claims();
  print_head(options);
  bool failed = false;
  std::vector<std::string> seen;
  for (const std::string& path : options.files) {
    const Row row = try_file(options, *known, path);
    print(row);
    failed = failed || row.failed();
    seen.push_back(row.architecture);
  }
  for (const auto& a : engine::supported_architectures())
    if (std::find(seen.begin(), seen.end(), a.name) == seen.end())
      print({.architecture = std::string(a.name),
             .image = a.takes_images ? Verdict::kAbsent : Verdict::kNotClaimed,
             .notes = {"no file"}});
  return failed ? 1 : 0;
}

}  // namespace

Command add_matrix(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("matrix", "Run models and write a page that says which of them do what they should");
  command->add_option("files", options->files, "GGUF files")->type_name("FILE");
  command->add_option(
      "--known", options->known,
      "JSON object: for files by name, the figures 'prose' and 'again' of an independent program");
  command
      ->add_option("--longest-prompt", options->longest_prompt,
                   "Tokens of the long prompt, where the model's context allows them")
      ->check(CLI::Range(engine::kLeastRecallTokens, 1 << 20))
      ->capture_default_str();
  command->add_option("--device", options->engine.device, "Where to compute")->capture_default_str();
  command->add_option("--threads", options->engine.threads, "Threads to compute with (0: one per core)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_flag("--show-ids", options->show_ids,
                    "Only print the tokens that the known figures are about");
  return [options] { return run(*options); };
}

}  // namespace tempo9::apps
