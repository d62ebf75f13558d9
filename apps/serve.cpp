// tempo9 --gguf model.gguf --port 11435: the server.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "commands.h"
#include "engine/engine.h"
#include "options.h"
#include "server/server.h"

namespace tempo9::apps {
namespace {

struct Options {
  engine::EngineOptions engine;
  server::ServerOptions server;
  std::string api_key_file;
  int grace_seconds = 30;
};

// One key a line; empty lines and lines that begin with # do not count.
Result<std::vector<std::string>> read_api_keys(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::kIo, "cannot read the API keys in '{}'", path);
  std::vector<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty() && line[0] != '#') keys.push_back(line);
  }
  if (keys.empty()) return fail(ErrorCode::kInvalidArgument, "'{}' holds no API key", path);
  return keys;
}

void announce(const engine::ModelInfo& info, const server::Server& server) {
  std::printf(
      "%s (%s, %s) is ready at %s, with a context of %d tokens. Try:\n\n"
      "  curl %s/v1/chat/completions -H 'Content-Type: application/json' \\\n"
      "    -d '{\"messages\": [{\"role\": \"user\", \"content\": \"Hello!\"}], \"temperature\": 0, "
      "\"stream\": true}'\n\n"
      "or point any OpenAI client at %s/v1. Ctrl-C stops the server; running replies may finish.\n",
      info.id.c_str(), info.architecture.c_str(), info.quantisation.c_str(), server.url().c_str(),
      info.context_length, server.url().c_str(), server.url().c_str());
  std::fflush(stdout);
}

int run(Options options) {
  // Standard output is for what a person or a script asked for; the log goes beside it.
  spdlog::set_default_logger(spdlog::stderr_color_mt("tempo9"));
  if (options.engine.model_path.empty())
    return report(
        {ErrorCode::kInvalidArgument, "no model given; try: tempo9 --gguf model.gguf, or tempo9 --help"});
  if (!options.api_key_file.empty()) {
    auto keys = read_api_keys(options.api_key_file);
    if (!keys) return report(keys.error());
    options.server.http.api_keys = std::move(*keys);
  }
  options.server.shutdown_grace = std::chrono::seconds(options.grace_seconds);
  auto engine = engine::load_engine(options.engine, show_progress());
  if (!engine) return report(engine.error());
  const engine::ModelInfo& info = (*engine)->info();
  const auto status = server::run_server(**engine, options.server,
                                         [&info](const server::Server& server) { announce(info, server); });
  return status ? *status : report(status.error());
}

}  // namespace

Command add_serve(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_engine_options(app, options->engine, false);
  app.add_option_function<int>(
         "--max-token-gap",
         [options](int milliseconds) {
           options->engine.max_token_gap = std::chrono::milliseconds(milliseconds);
         },
         "Milliseconds between two tokens of a running reply at most, as far as prompts that are read beside "
         "it are to blame (0: two and a half times what it is without them)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--trace", options->engine.trace_path,
                 "Write what each step and each request did when, for chrome://tracing or ui.perfetto.dev")
      ->type_name("FILE");
  server::HttpOptions& http = options->server.http;
  app.add_option("--host", http.host, "Address to listen on; other than loopback only with --api-key-file")
      ->capture_default_str();
  app.add_option("--port", http.port, "Port to listen on (0: any free one)")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--allowed-host", http.allowed_hosts,
                 "A further name under which clients may reach the server; may be given several times");
  app.add_option("--api-key-file", options->api_key_file,
                 "File with API keys, one a line; every request then needs one");
  app.add_option("--model-id", options->server.service.model_id,
                 "The name under which the model is listed (default: the file's own)");
  app.add_flag("--strict-model", options->server.service.strict_model,
               "Refuse requests that name another model instead of serving them");
  app.add_option("--shutdown-grace", options->grace_seconds,
                 "Seconds that running replies get to finish after SIGTERM")
      ->check(CLI::Range(0, 86400))
      ->capture_default_str();
  return [options] { return run(*options); };
}

}  // namespace tempo9::apps
