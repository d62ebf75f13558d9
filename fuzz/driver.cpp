// Runs a fuzz target without libFuzzer: first the seeds, then mutations of them. What run N does depends on
// nothing but the seeds, --seed and N, so a failure is repeated by the same command on any machine.
//   fuzz_gguf [--runs 10000] [--seed 1] [--only RUN] FILE-OR-FOLDER...
// When a run dies its input is left in ./crash-input, which can be given as the only seed with --runs 0.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using Input = std::vector<uint8_t>;
constexpr size_t kMaxInputBytes = 1 << 20;

struct Options {
  uint64_t runs = 10000;
  uint64_t seed = 1;
  uint64_t only = 0;  // counted from 1; 0: all
  std::vector<std::string> paths;
};

// What is running, for the report of a death.
const Input* current_input = nullptr;
uint64_t current_run = 0;

void save_input() {
  if (current_input == nullptr) return;
  std::fprintf(stderr, "fuzz: run %llu died; its input is in crash-input\n",
               static_cast<unsigned long long>(current_run));
  std::ofstream("crash-input", std::ios::binary)
      .write(reinterpret_cast<const char*>(current_input->data()),
             static_cast<std::streamsize>(current_input->size()));
  current_input = nullptr;
}

void on_signal(int signal) {
  save_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// An address sanitizer has its own handlers for bad accesses and calls back before it exits.
void catch_death() {
  for (int signal : {SIGABRT, SIGFPE, SIGILL}) std::signal(signal, on_signal);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(save_input);
  } else {
    for (int signal : {SIGSEGV, SIGBUS}) std::signal(signal, on_signal);
  }
}

void execute(const Input& input) {
  current_input = &input;
  // A copy of exactly its size, so that a sanitizer sees the first byte read beyond it.
  const auto copy = std::make_unique<uint8_t[]>(input.size());
  std::copy(input.begin(), input.end(), copy.get());
  LLVMFuzzerTestOneInput(copy.get(), input.size());
  current_input = nullptr;
}

class Mutator {
 public:
  Mutator(const std::vector<Input>& seeds, uint64_t seed, uint64_t run)
      : seeds_(seeds), random_(seed * 0x9e3779b97f4a7c15u + run) {}

  Input make() {
    Input input = any_seed();
    for (uint64_t changes = 1 + below(6); changes > 0; --changes) change(input);
    if (input.size() > kMaxInputBytes) input.resize(kMaxInputBytes);
    return input;
  }

 private:
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }
  const Input& any_seed() { return seeds_[below(seeds_.size())]; }

  void change(Input& input) {
    switch (input.empty() ? 5 : below(9)) {
      case 0:
        input[below(input.size())] ^= static_cast<uint8_t>(1u << below(8));
        break;
      case 1:
        input[below(input.size())] = static_cast<uint8_t>(random_());
        break;
      case 2:
      case 3:
        write_integer(input);
        break;
      case 4:
        copy_chunk(input);
        break;
      case 5:
        insert_chunk(input, any_seed());
        break;
      case 6:
        insert_chunk(input, Input(input));
        break;
      case 7:
        erase_chunk(input);
        break;
      case 8:
        splice(input);
        break;
    }
  }

  // An integer that tends to break things, or a neighbour of the one that is there.
  void write_integer(Input& input) {
    const size_t width = size_t{1} << below(4);
    if (input.size() < width) return;
    const size_t at = below(input.size() - width + 1);
    uint64_t value = 0;
    std::memcpy(&value, input.data() + at, width);
    switch (below(6)) {
      case 0:
        value = 0;
        break;
      case 1:
        value = ~uint64_t{0} - below(3);
        break;
      case 2:
        value = uint64_t{1} << below(8 * width);
        break;
      case 3:
        value = (uint64_t{1} << below(8 * width)) - 1;
        break;
      case 4:
        value += below(9) - 4;
        break;
      case 5:
        value = below(64);
        break;
    }
    std::memcpy(input.data() + at, &value, width);
  }

  struct Chunk {
    size_t begin, size;
  };
  Chunk any_chunk(const Input& input) {
    const size_t begin = below(input.size());
    const size_t longest = below(4) == 0 ? input.size() : 32;  // mostly short ones
    return {begin, 1 + below(std::min(longest, input.size() - begin))};
  }

  void copy_chunk(Input& input) {
    const Chunk chunk = any_chunk(input);
    const size_t to = below(input.size() - chunk.size + 1);
    std::memmove(input.data() + to, input.data() + chunk.begin, chunk.size);
  }
  void insert_chunk(Input& input, const Input& from) {
    if (from.empty()) return;
    const Chunk chunk = any_chunk(from);
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(chunk.begin);
    const auto at = input.begin() + static_cast<std::ptrdiff_t>(below(input.size() + 1));
    input.insert(at, begin, begin + static_cast<std::ptrdiff_t>(chunk.size));
  }
  void erase_chunk(Input& input) {
    const Chunk chunk = any_chunk(input);
    const auto begin = input.begin() + static_cast<std::ptrdiff_t>(chunk.begin);
    input.erase(begin, begin + static_cast<std::ptrdiff_t>(chunk.size));
  }
  // The beginning of this one, the end of another.
  void splice(Input& input) {
    const Input& other = any_seed();
    input.resize(below(input.size() + 1));
    input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size() + 1)),
                 other.end());
  }

  const std::vector<Input>& seeds_;
  std::mt19937_64 random_;
};

Input read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), {});
}

std::vector<Input> read_seeds(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // folders come in no particular order
  std::vector<Input> seeds;
  seeds.reserve(files.size());
  for (const auto& file : files) seeds.push_back(read_file(file));
  return seeds;
}

bool parse_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    uint64_t* number = argument == "--runs"   ? &options.runs
                       : argument == "--seed" ? &options.seed
                       : argument == "--only" ? &options.only
                                              : nullptr;
    if (number == nullptr) {
      if (argument.starts_with("--")) return false;
      options.paths.emplace_back(argument);
    } else {
      if (++i == argc) return false;
      *number = std::strtoull(argv[i], nullptr, 10);
    }
  }
  return !options.paths.empty();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse_options(argc, argv, options)) {
    std::fprintf(stderr, "usage: %s [--runs N] [--seed N] [--only RUN] FILE-OR-FOLDER...\n", argv[0]);
    return 2;
  }
  catch_death();
  const std::vector<Input> seeds = read_seeds(options.paths);
  if (seeds.empty()) {
    std::fprintf(stderr, "fuzz: no seeds\n");
    return 2;
  }
  uint64_t executions = 0;
  if (options.only == 0)
    for (const Input& input : seeds) {
      execute(input);
      ++executions;
    }
  const uint64_t first = options.only == 0 ? 1 : options.only;
  const uint64_t last = options.only == 0 ? options.runs : options.only;
  for (current_run = first; current_run <= last; ++current_run) {
    execute(Mutator(seeds, options.seed, current_run).make());
    ++executions;
  }
  std::printf("fuzz: %zu seeds, %llu executions\n", seeds.size(),
              static_cast<unsigned long long>(executions));
  return 0;
}
