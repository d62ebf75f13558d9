#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tempo9::engine {
namespace {

class Slabs final : public kv::SlabSource {
 public:
  Status allocate_slab(int, int) override { return {}; }
  void release_slab(int, int) override {}
};

class Silent final : public EventSink {
 public:
  void on_event(Event) noexcept override {}
};

SchedulerOptions rows_per_step(int rows) {
  SchedulerOptions options;
  options.budget.step_rows = rows;
  return options;
}

// Pages for `tokens` tokens in all.
struct World {
  explicit World(int tokens, SchedulerOptions options = {})
      : kv(kv::make_layout({{kv::Keeps::kFull, 0, 64}}),
           {.memory_bytes = static_cast<size_t>(tokens), .slab_bytes = 256}, slabs),
        scheduler(kv, options) {}

  RequestId add(int prompt, int max_new) {
    Request request;
    for (int i = 0; i < prompt; ++i) request.prompt.push_back(last_id_token());
    request.max_new_tokens = max_new;
    scheduler.add(
        std::make_unique<RequestState>(++last_id, std::move(request), std::make_shared<Silent>(), 1 << 20));
    return last_id;
  }
  // One step with a model that always says token 2; ended requests leave. Returns rows per request.
  std::map<RequestId, int> step() {
    std::map<RequestId, int> rows;
    std::vector<RequestId> ended;
    const StepPlan& plan = scheduler.plan();
    int sum = 0;
    for (const StepPart& part : plan.parts) {
      RequestState& r = *scheduler.running()[static_cast<size_t>(part.owner)];
      EXPECT_EQ(part.first_position, r.computed);
      EXPECT_GE(r.pages.tables[0].size() * 64, static_cast<size_t>(r.computed) + part.tokens.size())
          << "rows without pages";
      rows[r.id] = static_cast<int>(part.tokens.size());
      sum += rows[r.id];
      EXPECT_EQ(part.logits == Logits::kLast, r.computed + rows[r.id] == r.known());
    }
    EXPECT_EQ(sum, plan.rows);
    scheduler.completed(std::chrono::milliseconds(1));
    for (const StepPart& part : plan.parts) {
      RequestState& r = *scheduler.running()[static_cast<size_t>(part.owner)];
      if (part.logits == Logits::kNone) continue;
      r.tokens.push_back(2);
      if (r.known() >= r.limit) ended.push_back(r.id);
    }
    for (const RequestId id : ended) {
      EXPECT_NE(scheduler.remove(id), nullptr);
      ++finished;
    }
    return rows;
  }

  Slabs slabs;
  kv::KvCache kv;
  Scheduler scheduler;
  // No two prompts begin alike: nothing here is about what they share.
  TokenId last_id_token() { return static_cast<TokenId>(last_id + 10); }
  RequestId last_id = 0;
  int finished = 0;
};

TEST(SchedulerTest, APromptIsCutIntoStepsAndThenContinuesRowByRow) {
  World world(4096, rows_per_step(100));
  const RequestId id = world.add(250, 3);
  EXPECT_EQ(world.step(), (std::map<RequestId, int>{{id, 100}}));
  EXPECT_EQ(world.step(), (std::map<RequestId, int>{{id, 100}}));
  EXPECT_EQ(world.step(), (std::map<RequestId, int>{{id, 50}}));
  EXPECT_EQ(world.step(), (std::map<RequestId, int>{{id, 1}}));
  EXPECT_EQ(world.step(), (std::map<RequestId, int>{{id, 1}}));
  EXPECT_TRUE(world.scheduler.idle());
  EXPECT_EQ(world.kv.counts().pages_used, 0);
}

TEST(SchedulerTest, ARunningReplyGoesOnWhileAPromptIsRead) {
  World world(4096, rows_per_step(64));
  const RequestId first = world.add(10, 100);
  world.step();
  const RequestId second = world.add(1000, 5);
  const auto rows = world.step();
  EXPECT_EQ(rows.at(first), 1);
  EXPECT_EQ(rows.at(second), 63);
}

TEST(SchedulerTest, ARequestWaitsForPagesInsteadOfFailing) {
  World world(256);
  world.add(150, 10);
  world.add(150, 10);
  for (int i = 0; i < 100 && !world.scheduler.idle(); ++i) world.step();
  EXPECT_EQ(world.finished, 2);
}

TEST(SchedulerTest, WhenPagesRunOutTheYoungestStepsBackAndStillFinishes) {
  World world(256);
  const RequestId old = world.add(60, 150);
  const RequestId young = world.add(60, 150);
  bool stepped_back = false;
  for (int i = 0; i < 1000 && !world.scheduler.idle(); ++i) {
    world.step();
    const auto& running = world.scheduler.running();
    if (running.size() == 1 && running[0]->id == old && world.scheduler.waiting_count() == 1)
      stepped_back = true;
  }
  EXPECT_TRUE(stepped_back);
  EXPECT_EQ(world.finished, 2) << "request " << young << " was lost";
  EXPECT_EQ(world.kv.counts().pages_used, 0);
}

TEST(SchedulerTest, RemovalAtAnyTimeGivesPagesBack) {
  World world(1024, rows_per_step(32));
  std::mt19937 random(3);
  std::vector<RequestId> ids;
  for (int i = 0; i < 3000; ++i) {
    if (random() % 3 == 0)
      ids.push_back(world.add(1 + static_cast<int>(random() % 200), 1 + static_cast<int>(random() % 50)));
    if (!ids.empty() && random() % 4 == 0) world.scheduler.remove(ids[random() % ids.size()]);
    world.step();
  }
  for (const RequestId id : ids) world.scheduler.remove(id);
  EXPECT_TRUE(world.scheduler.idle());
  EXPECT_EQ(world.kv.counts().pages_used, 0);
}

// A reply runs, a prompt of `prompt` tokens has come, and its first pass is planned.
struct PassWorld : World {
  explicit PassWorld(int tokens, int prompt) : World(tokens, with_passes()) {
    reply = add(10, 1000);
    for (int i = 0; i < 3; ++i) step();
    newcomer = add(prompt, 5);
    EXPECT_EQ(step(), (std::map<RequestId, int>{{reply, 1}})) << "the prompt would delay the reply";
    rows = scheduler.plan_pass().rows;
  }
  static SchedulerOptions with_passes() {
    SchedulerOptions options = rows_per_step(512);
    options.pass_layers = 8;
    options.budget.least_prompt_rows = 1;
    return options;
  }
  RequestId reply = 0, newcomer = 0;
  int rows = 0;
};

TEST(SchedulerTest, APromptThatWouldDelayRepliesIsComputedInAPass) {
  PassWorld world(8192, 2000);
  ASSERT_GT(world.rows, 1);
  EXPECT_TRUE(world.scheduler.pass_runs());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(world.step(), (std::map<RequestId, int>{{world.reply, 1}}));
    EXPECT_TRUE(world.scheduler.plan_pass().parts.empty()) << "one at a time";
  }
  const StepPlan& pass = world.scheduler.pass_completed(std::chrono::milliseconds(10));
  ASSERT_EQ(pass.parts.size(), 1u);
  EXPECT_EQ(world.scheduler.running()[static_cast<size_t>(pass.parts[0].owner)]->computed, world.rows);
  EXPECT_FALSE(world.scheduler.pass_runs());
}

TEST(SchedulerTest, WhoLeavesDuringAPassLeavesItsPagesToTheEnd) {
  PassWorld world(8192, 2000);
  const int used = world.kv.counts().pages_used;
  EXPECT_NE(world.scheduler.remove(world.newcomer), nullptr);
  EXPECT_EQ(world.kv.counts().pages_used, used);
  EXPECT_NE(world.scheduler.remove(world.reply), nullptr);
  EXPECT_FALSE(world.scheduler.idle()) << "somebody must end the pass";
  EXPECT_EQ(world.scheduler.pass_completed(std::chrono::milliseconds(10)).parts.at(0).owner, -1);
  EXPECT_TRUE(world.scheduler.idle());
  EXPECT_EQ(world.kv.counts().pages_used, 0);
}

TEST(SchedulerTest, NobodyGivesWayDuringAPass) {
  PassWorld world(256, 100);  // four pages, of which the prompt takes two
  while (world.step().count(world.reply) == 1) {
  }
  EXPECT_EQ(world.scheduler.running().size(), 2u) << "the reply waits for a page";
  world.scheduler.pass_completed(std::chrono::milliseconds(10));
  EXPECT_EQ(world.step().count(world.reply), 1u) << "now the younger one gives way";
  EXPECT_EQ(world.scheduler.running().size(), 1u);
}

TEST(SchedulerTest, AFailureEndsThePassToo) {
  PassWorld world(8192, 2000);
  world.scheduler.failed();
  EXPECT_FALSE(world.scheduler.pass_runs());
  EXPECT_EQ(world.kv.counts().pages_used, 0);
}

}  // namespace
}  // namespace tempo9::engine
