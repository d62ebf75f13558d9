// tempo9: command line.
#include "commands.h"

int main(int argc, char** argv) {
  CLI::App app{
      "Tempo9 runs language models from GGUF files on this machine.\n\n"
      "  tempo9 --gguf model.gguf --port 11435     serve a model to programs that speak the OpenAI protocol\n"
      "  tempo9 run --gguf model.gguf \"Hello!\"     ask one question here\n"
      "  tempo9 inspect model.gguf                 what is in the file, and will it run?\n",
      "tempo9"};
  app.set_version_flag("--version", "tempo9 " TEMPO9_VERSION);
  app.require_subcommand(0, 1);
  const tempo9::apps::Command serve = tempo9::apps::add_serve(app);
  const std::pair<const char*, tempo9::apps::Command> commands[] = {
      {"run", tempo9::apps::add_run(app)},
      {"inspect", tempo9::apps::add_inspect(app)},
      {"perplexity", tempo9::apps::add_perplexity(app)},
      {"logits", tempo9::apps::add_logits(app)},
      {"bench", tempo9::apps::add_bench(app)},
      {"matrix", tempo9::apps::add_matrix(app)},
  };
  CLI11_PARSE(app, argc, argv);
  for (const auto& [name, run] : commands)
    if (app.got_subcommand(name)) return run();
  return serve();
}
