// The commands of `tempo9`. Each registers itself with CLI11 and returns the function that runs it (its
// result is the exit status).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace tempo9::apps {

using Command = std::function<int()>;

Command add_serve(CLI::App& command);  // the options of the bare program
Command add_run(CLI::App& app);
Command add_inspect(CLI::App& app);
Command add_perplexity(CLI::App& app);
Command add_logits(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_matrix(CLI::App& app);

}  // namespace tempo9::apps
