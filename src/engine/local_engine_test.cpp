// The whole engine over a tiny model: requests, company, cuts, cancellation, the end.
#include "engine/local_engine.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "engine/testing/devices.h"
#include "grammar/form.h"
#include "model/testing/tiny_llama.h"

namespace tempo9::engine {
namespace {

using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// Collects one request's events.
class Collector final : public EventSink {
 public:
  void on_event(Event event) noexcept override {
    const std::lock_guard lock(mutex_);
    if (auto* chosen = std::get_if<TokenChosen>(&event)) {
      tokens_.push_back(chosen->choice.token);
      logprobs_.push_back(chosen->choice.logprob);
    } else {
      EXPECT_FALSE(finished_.has_value()) << "two ends";
      finished_ = std::get<Finished>(event);
    }
    changed_.notify_all();
  }
  Finished wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, seconds(60), [this] { return finished_.has_value(); }))
        << "no end after a minute";
    return finished_.value_or(Finished{FinishReason::kError, {}, {}});
  }
  void wait_for_tokens(size_t n) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, seconds(60), [&] { return tokens_.size() >= n || finished_; }));
  }
  std::vector<TokenId> tokens() { return wait(), tokens_; }
  std::vector<float> logprobs() { return wait(), logprobs_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<TokenId> tokens_;
  std::vector<float> logprobs_;
  std::optional<Finished> finished_;
};

class LocalEngineTest : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string model_path() {
    static const std::string path = model::testing::TinyLlama{.format = quant::Format::kQ8_0}.write(
        ::testing::TempDir() + "tempo9_engine_test.gguf");
    return path;
  }
  std::unique_ptr<Engine> make(EngineOptions options = {}) {
    options.model_path = model_path();
    options.device = GetParam();
    if (options.kv_memory_bytes == 0) options.kv_memory_bytes = 64 << 20;
    auto engine = load_engine(options, {});
    EXPECT_TRUE(engine.has_value()) << engine.error().message;
    return std::move(*engine);
  }
  static Request request(int seed, int prompt, int reply, float temperature = 1.0f) {
    Request r;
    for (int i = 0; i < prompt; ++i) r.prompt.push_back((seed * 31 + i * 7) % 250);
    r.max_new_tokens = reply;
    r.sampling.temperature = temperature;
    r.sampling.seed = static_cast<uint64_t>(seed);
    r.sampling.top_logprobs = 0;
    r.sampling.logit_bias = {{model::testing::kTinyEndOfTurn, -100.0f}};
    return r;
  }
  static Request embedding(int seed, int prompt) {
    Request r = request(seed, prompt, 0);
    r.embed = true;
    return r;
  }
  static std::shared_ptr<Collector> start(Engine& engine, Request r) {
    auto sink = std::make_shared<Collector>();
    const auto id = engine.submit(std::move(r), sink);
    EXPECT_TRUE(id.has_value()) << id.error().message;
    return sink;
  }
};

TEST_P(LocalEngineTest, AReplyHasTheTokensAskedFor) {
  const auto engine = make();
  const auto sink = start(*engine, request(1, 20, 10));
  const Finished end = sink->wait();
  EXPECT_EQ(end.reason, FinishReason::kLength);
  EXPECT_EQ(end.usage.prompt_tokens, 20);
  EXPECT_EQ(end.usage.completion_tokens, 10);
  EXPECT_EQ(sink->tokens().size(), 10u);
}

TEST_P(LocalEngineTest, AnEndTokenEndsTheReplyAndIsNotShown) {
  const auto engine = make();
  Request r = request(2, 5, 10);
  r.sampling.logit_bias = {{model::testing::kTinyEndOfTurn, 100.0f}};
  const auto sink = start(*engine, r);
  EXPECT_EQ(sink->wait().reason, FinishReason::kEndToken);
  EXPECT_TRUE(sink->tokens().empty());
  EXPECT_EQ(sink->wait().usage.completion_tokens, 1);
}

TEST_P(LocalEngineTest, EndTokensCanBeIgnored) {
  const auto engine = make();
  Request r = request(2, 5, 10);
  r.ignore_end = true;
  r.sampling.logit_bias = {{model::testing::kTinyEndOfTurn, 100.0f}};  // would end it otherwise
  EXPECT_EQ(start(*engine, r)->wait().reason, FinishReason::kLength);
}

std::shared_ptr<const grammar::CompiledGrammar> compile(Engine& engine, const char* schema) {
  std::promise<grammar::Compiled> promise;
  engine.compile(grammar::schema_form(grammar::Json::parse(schema), "test"),
                 [&](grammar::Compiled compiled) { promise.set_value(std::move(compiled)); });
  const grammar::Compiled compiled = promise.get_future().get();
  EXPECT_TRUE(compiled) << compiled.error().message;
  return compiled.value_or(nullptr);
}

std::string spell(const Engine& engine, const std::vector<TokenId>& tokens) {
  std::string text;
  for (const TokenId token : tokens) text += engine.tokenizer().bytes(token, false);
  return text;
}

// Random weights, so nothing but the grammar makes the reply what it is.
TEST_P(LocalEngineTest, AReplyHasTheFormThatIsAsked) {
  const auto engine = make();
  const auto form =
      compile(*engine, R"({"type":"object","properties":{"kind":{"enum":["left","right"]},"sure":
                                        {"type":"boolean"}},"required":["kind","sure"]})");
  for (int seed = 0; seed < 8; ++seed) {
    Request r = request(seed, 20, 0, seed == 0 ? 0.0f : 1.5f);
    r.sampling.logit_bias = {{model::testing::kTinyEndOfTurn, 100.0f}};  // would end it at once otherwise
    r.grammar = form;
    const auto sink = start(*engine, r);
    EXPECT_EQ(sink->wait().reason, FinishReason::kEndToken);
    const auto json = nlohmann::json::parse(spell(*engine, sink->tokens()), nullptr, false);
    EXPECT_TRUE(json["kind"] == "left" || json["kind"] == "right") << json;
    EXPECT_TRUE(json["sure"].is_boolean()) << json;
    EXPECT_EQ(start(*engine, r)->tokens(), sink->tokens());  // the same seed, the same reply
  }
}

TEST_P(LocalEngineTest, AFormDoesNotTouchItsNeighbours) {
  const auto engine = make();
  const auto form =
      compile(*engine, R"({"type":"array","items":{"type":"integer"},"minItems":30,"maxItems":40})");
  const auto free_alone = start(*engine, request(1, 20, 30));
  free_alone->wait();
  Request held = request(2, 25, 60);
  held.grammar = form;
  const auto held_alone = start(*engine, held)->tokens();
  std::vector<std::shared_ptr<Collector>> held_beside, free_beside;
  for (int i = 0; i < 3; ++i) {
    held_beside.push_back(start(*engine, held));
    free_beside.push_back(start(*engine, request(1, 20, 30)));
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(held_beside[static_cast<size_t>(i)]->tokens(), held_alone);
    EXPECT_EQ(free_beside[static_cast<size_t>(i)]->tokens(), free_alone->tokens());
    EXPECT_EQ(free_beside[static_cast<size_t>(i)]->logprobs(), free_alone->logprobs());
  }
}

// A vector is the same to the last bit: alone, beside others, cut into any steps, cold and warm.
TEST_P(LocalEngineTest, AnEmbeddingDoesNotDependOnCompanyCutsOrCache) {
  const auto alone = make();
  const Finished cold = start(*alone, embedding(3, 150))->wait();
  EXPECT_EQ(cold.reason, FinishReason::kEndToken);
  EXPECT_EQ(cold.usage.prompt_tokens, 150);
  EXPECT_EQ(cold.usage.cached_tokens, 0);
  EXPECT_EQ(static_cast<int>(cold.embedding.size()), alone->info().embedding.size);
  double squares = 0;
  for (const float value : cold.embedding) squares += static_cast<double>(value) * value;
  EXPECT_NEAR(squares, 1, 1e-6);
  const Finished warm = start(*alone, embedding(3, 150))->wait();
  EXPECT_EQ(warm.embedding, cold.embedding);
  EXPECT_NE(start(*alone, embedding(4, 150))->wait().embedding, cold.embedding);
  EXPECT_GT(start(*alone, request(3, 151, 1))->wait().usage.cached_tokens,
            100);  // others use what it computed
  for (const int step_tokens : {1, 7, 64}) {
    EngineOptions options;
    options.step_tokens = step_tokens;
    const auto engine = make(options);
    std::vector<std::shared_ptr<Collector>> neighbours;
    for (int i = 0; i < 3; ++i) neighbours.push_back(start(*engine, request(10 + i, 20 + 30 * i, 20)));
    const auto sink = start(*engine, embedding(3, 150)), other = start(*engine, embedding(5, 70));
    for (int i = 0; i < 3; ++i) neighbours.push_back(start(*engine, request(20 + i, 90, 5)));
    EXPECT_EQ(sink->wait().embedding, cold.embedding) << "steps of " << step_tokens;
    EXPECT_FALSE(other->wait().embedding.empty());
    for (auto& n : neighbours) EXPECT_TRUE(n->wait().embedding.empty());
  }
}

// The same request gives the same tokens and the same log-probabilities to the last bit: alone, beside
// others, cut into any steps.
TEST_P(LocalEngineTest, AReplyDoesNotDependOnCompanyOrCuts) {
  const auto alone = make();
  const auto expected = start(*alone, request(3, 150, 40));
  for (const int step_tokens : {1, 7, 64, 512}) {
    EngineOptions options;
    options.step_tokens = step_tokens;
    const auto engine = make(options);
    std::vector<std::shared_ptr<Collector>> neighbours;
    for (int i = 0; i < 4; ++i) neighbours.push_back(start(*engine, request(10 + i, 20 + 30 * i, 30)));
    const auto sink = start(*engine, request(3, 150, 40));
    for (int i = 0; i < 3; ++i) neighbours.push_back(start(*engine, request(20 + i, 90, 5)));
    EXPECT_EQ(sink->tokens(), expected->tokens()) << "steps of " << step_tokens;
    EXPECT_EQ(sink->logprobs(), expected->logprobs()) << "steps of " << step_tokens;
    for (auto& n : neighbours) n->wait();
  }
}

// A prompt that would delay a reply is computed in slices between its steps, on devices where steps are long.
TEST_P(LocalEngineTest, APromptDoesNotDependOnBeingComputedInSlices) {
  const auto alone = make();
  const auto expected = start(*alone, request(3, 400, 20));
  const auto embedded = start(*alone, embedding(5, 150));
  EngineOptions options;
  options.max_token_gap = std::chrono::milliseconds(1);
  const auto engine = make(options);
  const auto running = start(*engine, request(4, 10, 400));
  running->wait_for_tokens(5);
  const auto sink = start(*engine, request(3, 400, 20));
  const auto text = start(*engine, embedding(5, 150));
  EXPECT_EQ(sink->tokens(), expected->tokens());
  EXPECT_EQ(sink->logprobs(), expected->logprobs());
  EXPECT_EQ(text->wait().embedding, embedded->wait().embedding);
  const auto again = start(*alone, request(4, 10, 400));
  EXPECT_EQ(running->logprobs(), again->logprobs());
  EXPECT_EQ(engine->stats().passes > 0, GetParam() != "cuda");
}

// What is found in the cache gives the bits that computing it again would give.
TEST_P(LocalEngineTest, ACachedBeginningChangesNothing) {
  const auto cold = make(), warm = make();
  const Request first = request(3, 150, 40);
  start(*warm, first)->wait();
  const auto again = start(*warm, first), expected = start(*cold, first);
  EXPECT_EQ(again->wait().usage.cached_tokens, 149);
  EXPECT_EQ(again->tokens(), expected->tokens());
  EXPECT_EQ(again->logprobs(), expected->logprobs());

  Request turn = first;  // the conversation goes on, and another goes off in the middle of a page
  const auto reply = expected->tokens();
  turn.prompt.insert(turn.prompt.end(), reply.begin(), reply.end());
  turn.prompt.insert(turn.prompt.end(), {7, 8, 9});
  Request branch = first;
  branch.prompt.resize(100);
  branch.prompt.insert(branch.prompt.end(), 60, 11);
  for (const auto& [r, cached] : {std::pair(turn, 189), std::pair(branch, 100)}) {
    const auto fresh = make();
    const auto found = start(*warm, r), computed = start(*fresh, r);
    EXPECT_EQ(computed->wait().usage.cached_tokens, 0);
    EXPECT_EQ(found->wait().usage.cached_tokens, cached);
    EXPECT_EQ(found->tokens(), computed->tokens());
    EXPECT_EQ(found->logprobs(), computed->logprobs());
  }
}

TEST_P(LocalEngineTest, RequestsThatStartTogetherComputeTheirSharedPartOnce) {
  const auto engine = make();
  std::vector<std::shared_ptr<Collector>> sinks;
  for (int i = 0; i < 8; ++i) {
    Request r = request(3, 400, 2);
    r.prompt.push_back(i);
    sinks.push_back(start(*engine, r));
  }
  for (auto& sink : sinks) sink->wait();
  EXPECT_LE(engine->stats().tokens_computed, 401u + 7 * (64 + 1) + 8 * 2);
}

TEST_P(LocalEngineTest, PausedForLackOfPagesAReplyIsStillTheSame) {
  const auto roomy = make();
  const auto expected = start(*roomy, request(4, 100, 200));
  EngineOptions options;
  options.kv_memory_bytes = 8 * 64 * 2 * 2 * 2 * 16 * 4;  // some eight pages: too few for all, enough for one
  const auto engine = make(options);
  std::vector<std::shared_ptr<Collector>> all;
  for (int i = 0; i < 3; ++i) all.push_back(start(*engine, request(4, 100, 200)));
  for (auto& sink : all) EXPECT_EQ(sink->tokens(), expected->tokens());
}

TEST_P(LocalEngineTest, CancellationFreesEverything) {
  const auto engine = make();
  std::vector<std::shared_ptr<Collector>> sinks;
  std::vector<RequestId> ids;
  for (int i = 0; i < 8; ++i) {
    sinks.push_back(std::make_shared<Collector>());
    ids.push_back(engine->submit(request(i, 100, 400), sinks.back()).value());
  }
  sinks[0]->wait_for_tokens(3);
  for (const RequestId id : ids) engine->cancel(id);
  for (auto& sink : sinks) {
    const FinishReason reason = sink->wait().reason;
    EXPECT_TRUE(reason == FinishReason::kCancelled || reason == FinishReason::kLength);
  }
  const auto last = start(*engine, request(99, 3, 1));
  last->wait();
  for (int i = 0; i < 1000 && engine->stats().kv.pages_used != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(engine->stats().kv.pages_used, 0);
  EXPECT_EQ(engine->stats().running, 0);
}

// At any moment: in the queue, in the prompt, between tokens, at the end.
TEST_P(LocalEngineTest, ManyRandomCancelsLeaveNothingBehind) {
  EngineOptions options;
  options.kv_memory_bytes = 4 << 20;
  const auto engine = make(options);
  const auto* most = std::getenv("TEMPO9_CANCELS");
  const int cancels = most != nullptr ? std::atoi(most) : 500;
  std::mt19937 random(5);
  std::vector<std::shared_ptr<Collector>> sinks;
  std::vector<RequestId> ids;
  for (int i = 0; i < cancels; ++i) {
    auto sink = std::make_shared<Collector>();
    const auto id = engine->submit(
        request(static_cast<int>(random() % 7), 1 + static_cast<int>(random() % 150), 40), sink);
    ASSERT_TRUE(id.has_value()) << id.error().message;
    ids.push_back(*id);
    sinks.push_back(std::move(sink));
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    if (i >= 8) engine->cancel(ids[static_cast<size_t>(i - 8 + static_cast<int>(random() % 8))]);
    if (i >= 20) {
      engine->cancel(ids[static_cast<size_t>(i - 20)]);
      sinks[static_cast<size_t>(i - 20)]->wait();
    }
  }
  for (const auto& sink : sinks) sink->wait();
  engine->shut_down(Clock::now() + seconds(60));
  const Stats stats = engine->stats();
  EXPECT_EQ(stats.running + stats.queued, 0);
  EXPECT_EQ(stats.requests_finished, static_cast<uint64_t>(cancels));
  EXPECT_EQ(stats.kv.pages_used, 0);
  EXPECT_LE(stats.kv.bytes_used + stats.kv.bytes_cached + stats.kv.bytes_free, size_t{4} << 20);
}

TEST_P(LocalEngineTest, TheTraceShowsStepsAndRequests) {
  const std::string path = ::testing::TempDir() + "tempo9_engine_trace.json";
  {
    EngineOptions options;
    options.trace_path = path;
    const auto engine = make(options);
    start(*engine, request(1, 30, 4))->wait();
  }
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const auto trace = nlohmann::json::parse(text.str() + "]");
  std::map<std::string, int> spans;
  for (const auto& event : trace)
    if (event["ph"] == "X") ++spans[event["name"]];
  EXPECT_EQ(spans, (std::map<std::string, int>{{"step", 4}, {"queued", 1}, {"prompt", 1}, {"reply", 1}}));
}

TEST_P(LocalEngineTest, StatsSayWhenAllIsQuiet) {
  const auto engine = make();
  start(*engine, request(1, 20, 5))->wait();
  for (int i = 0; i < 1000 && engine->stats().running != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(engine->stats().running, 0);
  EXPECT_EQ(engine->stats().requests_finished, 1u);
}

TEST_P(LocalEngineTest, BadRequestsAreRefusedByName) {
  const auto engine = make();
  const auto refused = [&](Request r) {
    const auto id = engine->submit(std::move(r), std::make_shared<Collector>());
    EXPECT_FALSE(id.has_value());
    return id ? Error{ErrorCode::kInternal, ""} : id.error();
  };
  EXPECT_EQ(refused(request(1, 512, 1)).code, ErrorCode::kTooLong);
  EXPECT_NE(refused(request(1, 512, 1)).message.find("512"), std::string::npos);
  EXPECT_EQ(refused(request(1, 0, 1)).code, ErrorCode::kInvalidArgument);
  Request hot = request(1, 4, 1);
  hot.sampling.temperature = -1;
  EXPECT_NE(refused(hot).message.find("temperature"), std::string::npos);
  Request stranger = request(1, 4, 1);
  stranger.prompt[2] = 100000;
  EXPECT_NE(refused(stranger).message.find("100000"), std::string::npos);
}

TEST_P(LocalEngineTest, TheContextIsALimit) {
  const auto engine = make();
  const auto sink = start(*engine, request(5, 500, 0));
  EXPECT_EQ(sink->wait().reason, FinishReason::kLength);
  EXPECT_EQ(sink->tokens().size(), 12u);
}

TEST_P(LocalEngineTest, ShuttingDownLetsRepliesFinishAndRefusesNewOnes) {
  const auto engine = make();
  const auto sink = start(*engine, request(6, 50, 100));
  engine->shut_down(Clock::now() + seconds(60));
  EXPECT_EQ(sink->wait().reason, FinishReason::kLength);
  EXPECT_EQ(engine->submit(request(7, 5, 5), std::make_shared<Collector>()).error().code, ErrorCode::kBusy);
}

TEST_P(LocalEngineTest, ShuttingDownCancelsWhatTakesTooLong) {
  const auto engine = make();
  const auto sink = start(*engine, request(8, 100, 400));
  engine->shut_down(Clock::now());
  const FinishReason reason = sink->wait().reason;
  EXPECT_TRUE(reason == FinishReason::kCancelled || reason == FinishReason::kLength);
}

INSTANTIATE_TEST_SUITE_P(Devices, LocalEngineTest,
                         ::testing::ValuesIn(testing::with_gpu({"reference", "cpu", "deferred", "gpu_host"})),
                         [](const auto& device) { return device.param; });

TEST(LoaderTest, ErrorsNameWhatIsWrong) {
  EngineOptions options;
  options.model_path = "/nowhere/model.gguf";
  EXPECT_NE(load_engine(options, {}).error().message.find("/nowhere/model.gguf"), std::string::npos);
  options.model_path = model::testing::TinyLlama{}.write(::testing::TempDir() + "tempo9_loader_test.gguf");
  options.kv_type = "q3";
  EXPECT_NE(load_engine(options, {}).error().message.find("'q3'"), std::string::npos);
  options.kv_type = "f16";
  options.device = "abacus";
  EXPECT_NE(load_engine(options, {}).error().message.find("'abacus'"), std::string::npos);
}

}  // namespace
}  // namespace tempo9::engine
