// tempo9 inspect: what is in a file, will it run, and if not why.
#include <cstdio>
#include <memory>

#include "commands.h"
#include "engine/loader.h"
#include "gguf/describe.h"
#include "gguf/file.h"
#include "options.h"

namespace tempo9::apps {
namespace {

int run(const std::string& path) {
  const auto file = gguf::File::open(path);
  if (!file) return report(file.error());
  std::printf("%s\n", gguf::describe(**file).c_str());
  const auto remarks = engine::check_runnable(**file);
  if (remarks) {
    std::printf("This file will run.\n");
    for (const std::string& remark : *remarks) std::printf("Note: %s.\n", remark.c_str());
    return 0;
  }
  std::printf("This file will not run: %s.\n", remarks.error().message.c_str());
  return 1;
}

}  // namespace

Command add_inspect(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("inspect", "Tell what is in a model file, whether it will run, and if not why");
  command->add_option("--gguf,file", *path, "The GGUF file")->required();
  return [path] { return run(*path); };
}

}  // namespace tempo9::apps
