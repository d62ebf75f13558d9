// invariance MODEL [--tokens N] [--steps-of-one] [--device cuda]
// A request gives the same bits whatever goes on around it: alone or in company, its prompt cut into any
// steps, cold or from the cache, on any number of threads, paused for lack of memory or not, greedy or
// sampled. Compares a hash of every row of logits with that of the request alone; prints a line for each
// circumstance, and exits with 1 if one differs.
#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "engine/engine.h"

namespace tempo9::engine {
namespace {

constexpr int kPromptTokens = 150;
constexpr std::string_view kText =
    "The harbour master kept two books. In the first she wrote what came and went: salt, timber, forty "
    "crates "
    "of oranges, a piano. In the second she wrote what the sailors said about the sea, because the sea, she "
    "held, was also a ship that came and went. ";

using Rows = std::map<int, uint64_t>;  // hash of the logits before each position

class Sink final : public EventSink {
 public:
  void on_event(Event event) noexcept override {
    const auto* finished = std::get_if<Finished>(&event);
    if (finished == nullptr) return;
    const std::lock_guard lock(mutex_);
    reason_ = finished->reason;
    done_ = true;
    changed_.notify_all();
  }
  FinishReason wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
    return reason_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  FinishReason reason_{};
};

// An engine that remembers the rows of all requests.
class Watched {
 public:
  explicit Watched(EngineOptions options) {
    options.observe_logits = [this](RequestId id, int position, std::span<const float> row) {
      const std::lock_guard lock(mutex_);
      rows_[id][position] = XXH3_64bits(row.data(), row.size_bytes());
    };
    auto engine = load_engine(options, {});
    if (!engine) throw std::runtime_error(engine.error().message);
    engine_ = std::move(*engine);
  }

  Engine& engine() { return *engine_; }
  RequestId submit(Request request, std::shared_ptr<Sink> sink) {
    auto id = engine_->submit(std::move(request), std::move(sink));
    if (!id) throw std::runtime_error(id.error().message);
    return *id;
  }
  Rows rows_of(RequestId id) {
    const std::lock_guard lock(mutex_);
    return rows_[id];
  }

 private:
  std::mutex mutex_;
  std::map<RequestId, Rows> rows_;
  std::unique_ptr<Engine> engine_;  // ends first: it calls the observer
};

struct Circumstance {
  std::string name;
  EngineOptions options;
  int neighbours = 0;   // other requests, half of them submitted before
  int warm_tokens = 0;  // of the prompt, computed for another request before
};

Request measured(const Engine& engine, int tokens, bool greedy) {
  Request request;
  const auto ids = engine.tokenizer().encode(kText, {});
  while (static_cast<int>(request.prompt.size()) < kPromptTokens)
    request.prompt.insert(request.prompt.end(), ids.begin(), ids.end());
  request.prompt.resize(kPromptTokens);
  request.max_new_tokens = tokens;
  request.ignore_end = true;
  request.sampling.temperature = greedy ? 0.0f : 1.0f;
  request.sampling.seed = 7;
  return request;
}

Request neighbour(const Request& like, int number) {
  Request request = like;
  // Some share a beginning with the measured one, some nothing.
  const size_t from = number % 2 == 0 ? 0 : request.prompt.size() / 2;
  std::rotate(request.prompt.begin() + static_cast<ptrdiff_t>(from),
              request.prompt.begin() + static_cast<ptrdiff_t>(from) + 1 + number % 60, request.prompt.end());
  request.prompt.resize(static_cast<size_t>(20 + number * 29 % 130));
  request.sampling.seed = static_cast<uint64_t>(100 + number);
  request.sampling.temperature = 1.0f;
  return request;
}

Rows run(Watched& watched, const Circumstance& circumstance, const Request& request) {
  if (circumstance.warm_tokens > 0) {
    Request before = request;
    before.prompt.resize(static_cast<size_t>(circumstance.warm_tokens));
    before.max_new_tokens = 5;
    const auto sink = std::make_shared<Sink>();
    watched.submit(before, sink);
    sink->wait();
  }
  std::vector<std::shared_ptr<Sink>> others;
  const auto add = [&](int number) {
    others.push_back(std::make_shared<Sink>());
    watched.submit(neighbour(request, number), others.back());
  };
  for (int i = 0; i < circumstance.neighbours / 2; ++i) add(i);
  const auto sink = std::make_shared<Sink>();
  const RequestId id = watched.submit(request, sink);
  for (int i = circumstance.neighbours / 2; i < circumstance.neighbours; ++i) add(i);
  if (sink->wait() != FinishReason::kLength)
    throw std::runtime_error(circumstance.name + ": the request did not reach its length");
  for (const auto& other : others) other->wait();
  return watched.rows_of(id);
}

std::vector<Circumstance> list_circumstances(const EngineOptions& base, bool steps_of_one,
                                             uint64_t bytes_of_one) {
  std::vector<Circumstance> all = {{"again, from the cache", base, 0, kPromptTokens},
                                   {"half of it from the cache", base, 0, kPromptTokens / 2 + 5}};
  const bool gpu = base.device != EngineOptions().device;  // it has other kernels for other numbers of rows
  for (const int n : {1, 3, 7, 8, 15, 31, 63})
    if (n <= 15 || gpu) all.push_back({fmt::format("{} neighbours", n), base, n});
  for (const int rows : {1, 7, 64}) {
    if (rows == 1 && !steps_of_one) continue;
    all.push_back({fmt::format("steps of {}", rows), base, rows == 64 ? 3 : 0});
    all.back().options.step_tokens = rows;
  }
  for (const int threads : {1, 2, 3, 8}) {
    if (gpu) continue;
    all.push_back({fmt::format("{} threads", threads), base, 3});
    all.back().options.threads = threads;
  }
  if (!gpu) {
    all.push_back({"late device", base, 3});
    all.back().options.device = "deferred";
  }
  all.push_back({"memory for three", base, 9});
  all.back().options.kv_memory_bytes = 3 * bytes_of_one;
  return all;
}

// What one request of this size holds at its end.
uint64_t bytes_of_one(const Engine& engine) {
  const Stats stats = engine.stats();
  return stats.kv.bytes_used + stats.kv.bytes_cached;
}

bool compare(const Rows& expected, const Rows& got, const std::string& name, uint64_t pauses) {
  int different = 0, first = -1;
  for (const auto& [position, hash] : expected) {
    const auto it = got.find(position);
    if (it != got.end() && it->second == hash) continue;
    if (different++ == 0) first = position;
  }
  const bool equal = different == 0 && got.size() == expected.size();
  std::printf("%-44s %4zu rows  %s", name.c_str(), got.size(), equal ? "equal" : "DIFFERENT");
  if (!equal) std::printf(": %d rows, the first at position %d", different, first);
  if (pauses > 0) std::printf("  (%llu pauses)", static_cast<unsigned long long>(pauses));
  std::printf("\n");
  return equal;
}

int check(const std::string& path, int tokens, bool steps_of_one, const std::string& device) {
  EngineOptions base;
  if (!device.empty()) base.device = device;
  base.model_path = path;
  base.kv_memory_bytes = 256 << 20;
  bool all_equal = true;
  for (const bool greedy : {true, false}) {
    Watched alone(base);
    const Request request = measured(alone.engine(), tokens, greedy);
    const Rows expected = run(alone, {"alone", base}, request);
    for (const Circumstance& c : list_circumstances(base, steps_of_one, bytes_of_one(alone.engine()))) {
      Watched watched(c.options);
      const Rows got = run(watched, c, request);
      const uint64_t pauses = watched.engine().stats().preemptions;
      all_equal &=
          compare(expected, got, fmt::format("{}, {}", greedy ? "greedy" : "sampled", c.name), pauses);
    }
  }
  return all_equal ? 0 : 1;
}

}  // namespace
}  // namespace tempo9::engine

int main(int argc, char** argv) {
  std::string path, device;
  int tokens = 64;
  bool steps_of_one = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--tokens" && i + 1 < argc)
      tokens = std::atoi(argv[++i]);
    else if (word == "--steps-of-one")
      steps_of_one = true;
    else if (word == "--device" && i + 1 < argc)
      device = argv[++i];
    else
      path = word;
  }
  if (path.empty() || tokens <= 0) {
    std::fprintf(stderr, "invariance MODEL [--tokens N] [--steps-of-one] [--device cuda]\n");
    return 2;
  }
  try {
    return tempo9::engine::check(path, tokens, steps_of_one, device);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "invariance: %s\n", error.what());
    return 2;
  }
}
