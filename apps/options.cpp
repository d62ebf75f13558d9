#include "options.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "base/result.h"

namespace tempo9::apps {

Result<uint64_t> parse_bytes(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(end, text.data() + text.size());
  if (unit.ends_with("iB")) unit.resize(unit.size() - 2);
  if (unit.ends_with("B")) unit.resize(unit.size() - 1);
  int shift = -1;
  if (unit.empty()) shift = 0;
  if (unit == "K" || unit == "k") shift = 10;
  if (unit == "M") shift = 20;
  if (unit == "G") shift = 30;
  if (unit == "T") shift = 40;
  if (error != std::errc() || shift < 0 || value > (UINT64_MAX >> shift))
    return fail(ErrorCode::kInvalidArgument, "'{}' is not a size; write for example 512M or 4G", text);
  return value << shift;
}

void add_engine_options(CLI::App& command, engine::EngineOptions& options, bool required) {
  auto* path = command.add_option("--gguf,model", options.model_path,
                                  "The model: a GGUF file (of a split series, the first)");
  path->required(required)->type_name("FILE");
  options.device = "auto";
  command
      .add_option("--device", options.device,
                  "Where to compute: auto (a GPU if this build and machine have one), cpu, cuda, cuda:N, or "
                  "reference (slow, exact; for checks)")
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Threads to compute with (0: one per core)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command
      .add_option("--kv-type", options.kv_type,
                  "How keys and values are stored: f16, bf16, q8_0 (half the memory of f16), f32")
      ->capture_default_str();
  command
      .add_option("--max-context", options.max_context,
                  "Longest conversation in tokens (0: what the model was trained for)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--kv-memory",
          [&options](const std::string& text) {
            auto bytes = parse_bytes(text);
            if (!bytes) throw CLI::ValidationError("--kv-memory", bytes.error().message);
            options.kv_memory_bytes = *bytes;
          },
          "Bound for all conversations' memory, e.g. 4G (default: 60% of what is free after loading). A "
          "bound, not a reservation")
      ->type_name("SIZE");
}

engine::Progress show_progress() {
  if (!::isatty(STDERR_FILENO)) return {};
  return [last = -1](double share) mutable {
    const int percent = static_cast<int>(share * 100);
    if (percent == last) return;
    last = percent;
    constexpr int kWidth = 40;
    const std::string bar(static_cast<size_t>(percent * kWidth / 100), '#');
    std::fprintf(stderr, "\rloading [%-*s] %3d%%%s", kWidth, bar.c_str(), percent,
                 percent == 100 ? "\n" : "");
  };
}

int report(const Error& error) {
  std::fprintf(stderr, "tempo9: %s\n", error.message.c_str());
  return 1;
}

}  // namespace tempo9::apps
