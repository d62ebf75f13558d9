// Options that several commands share, as CLI11 reads them.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "engine/engine.h"

namespace tempo9::apps {

// --gguf (or a bare path), --device, --threads, --kv-type, --max-context, --kv-memory.
// `required`: the command line is refused without a model.
void add_engine_options(CLI::App& command, engine::EngineOptions& options, bool required = true);

// Prints loading progress on a terminal; nothing elsewhere.
engine::Progress show_progress();

// Prints "tempo9: message" to standard error and gives the exit status 1.
int report(const Error& error);

// "2G", "512M", "65536" as bytes.
Result<uint64_t> parse_bytes(const std::string& text);

}  // namespace tempo9::apps
