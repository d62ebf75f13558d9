// tempo9 logits: the numbers behind the next token, for checks from outside.
#include <cstdio>
#include <fstream>
#include <memory>

#include "commands.h"
#include "engine/evaluate.h"
#include "options.h"

namespace tempo9::apps {
namespace {

struct Options {
  engine::EngineOptions engine;
  std::vector<TokenId> ids;
  std::string out;
  bool draft = false;
};

// A file that numpy.load() reads: float32 [rows, columns], C order. Format: numpy.org, "numpy.lib.format",
// version 1.0.
class NpyFile {
 public:
  NpyFile(const std::string& path, size_t rows, size_t columns) : stream_(path, std::ios::binary) {
    std::string header =
        fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
    constexpr size_t kPrefix = 10, kAlignment = 64;
    header.resize((kPrefix + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPrefix - 1,
                  ' ');
    header += '\n';
    const auto size = static_cast<uint16_t>(header.size());
    stream_.write("\x93NUMPY\x01\x00", 8);
    stream_.put(static_cast<char>(size & 255)).put(static_cast<char>(size >> 8));
    stream_ << header;
  }
  void write(std::span<const float> row) {
    stream_.write(reinterpret_cast<const char*>(row.data()), static_cast<std::streamsize>(row.size_bytes()));
  }
  bool close() { return stream_.close(), stream_.good(); }

 private:
  std::ofstream stream_;
};

int run(const Options& options) {
  auto evaluator = engine::Evaluator::load(options.engine, options.engine.step_tokens, show_progress());
  if (!evaluator) return report(evaluator.error());
  const size_t rows = options.ids.size() - (options.draft ? 1 : 0);
  if (rows == 0) return report({ErrorCode::kInvalidArgument, "--draft needs at least two tokens"});
  std::unique_ptr<NpyFile> file;
  const auto write = [&](int, std::span<const float> row) {
    if (file == nullptr) file = std::make_unique<NpyFile>(options.out, rows, row.size());
    file->write(row);
  };
  const Status done = options.draft ? (*evaluator)->draft_logits(options.ids, write)
                                    : (*evaluator)->logits(options.ids, 0, write);
  if (!done) return report(done.error());
  if (file == nullptr || !file->close())
    return report({ErrorCode::kIo, fmt::format("cannot write '{}'", options.out)});
  return 0;
}

}  // namespace

Command add_logits(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "logits", "Write the logits after each of the given tokens (float32, .npy, one row a position)");
  add_engine_options(*command, options->engine);
  command->add_option("--ids", options->ids, "Token ids, separated by commas")->required()->delimiter(',');
  command->add_option("--out", options->out, "The file to write")->required();
  command->add_flag(
      "--draft", options->draft,
      "Write what the model's draft head (MTP) says instead: row i is about the token after the "
      "next, given the next");
  command->add_option("--step", options->engine.step_tokens, "Rows of one step at most")
      ->check(CLI::Range(1, 8192))
      ->capture_default_str();
  return [options] { return run(*options); };
}

}  // namespace tempo9::apps
