// Norms, rotations, caps and layers with a state: equal bits from every instruction set and number of
// threads. That the results are right is ops_test's subject.
#include "backend/cpu/cpu_test_machine.h"

namespace tempo9::backend::cpu {
namespace {

// Runs `test` on the scalar leaf with one thread, then on every other, and compares.
template <class Test>
void expect_equal_bits(Test test) {
  Machine scalar("scalar", 1);
  const Values expected = test(scalar);
  for (const std::string& isa : vector_isas())
    for (const int threads : {1, 3}) {
      Machine machine(isa, threads);
      EXPECT_TRUE(same_bits(test(machine), expected)) << isa << ", " << threads << " threads";
    }
}

TEST(RowBits, NormsOfHeads) {
  std::mt19937 random(21);
  const int rows = 9, heads = 3, size = 84;  // no multiple of 16
  const Values x = normal_values(random, static_cast<size_t>(rows * heads * size)),
               weight = normal_values(random, size);
  for (const bool add : {false, true})
    expect_equal_bits([&](Machine& machine) {
      const View out = machine.put(x, rows, heads * size);
      machine.run(RmsNorm{machine.put(x, rows, heads * size), machine.put(weight, 1, size), out, 1e-6f, heads,
                          add, 0.75f});
      return get(out);
    });
}

TEST(RowBits, Softcap) {
  std::mt19937 random(22);
  const Values x = normal_values(random, 5 * 1003, 40);
  expect_equal_bits([&](Machine& machine) {
    const View view = machine.put(x, 5, 1003);
    machine.run(Softcap{view, 30.0f});
    return get(view);
  });
}

TEST(RowBits, Rotations) {
  std::mt19937 random(23);
  const int rows = 11, heads = 3, size = 80, pairs = 30;
  const Values x = normal_values(random, static_cast<size_t>(rows * heads * size)),
               angles = normal_values(random, static_cast<size_t>(rows * 2 * pairs));
  for (const RopePairs order : {RopePairs::kAdjacent, RopePairs::kSplit})
    expect_equal_bits([&](Machine& machine) {
      const View view = machine.put(x, rows, heads * size);
      machine.run(Rope{view, machine.put(angles, rows, 2 * pairs), heads, size, order});
      return get(view);
    });
}

// Memory for one state of `floats` values, and what an operation needs to know of it.
struct OneState {
  explicit OneState(size_t floats) : slab(HostBuffer::allocate(floats * sizeof(float))) {
    slabs.set(0, slab.get());
    layer = {&slabs, 1, slab->bytes(), 0};
  }
  std::unique_ptr<HostBuffer> slab;
  HostSlabTable slabs{1};
  StateLayer layer;
};

// Rows 0 .. rows - 1 of a sequence in two steps, so that the second begins with a state.
template <class Operation>
void run_in_two_steps(Machine& machine, Operation op, int rows) {
  op.slots = machine.put(std::vector<int32_t>{0}, 1, 1);
  for (const int first : {0, rows / 2}) {
    const int last = first == 0 ? rows / 2 : rows;
    op.segments = {machine.put(std::vector<int32_t>{first, last - first, first, 0}, 1, 4), 1, last - first,
                   last};
    machine.run(op);
  }
}

TEST(RowBits, CausalConvolutions) {
  std::mt19937 random(24);
  const int rows = 13, columns = 300, taps = 4;
  const Values x = normal_values(random, static_cast<size_t>(rows * columns)),
               weight = normal_values(random, static_cast<size_t>(columns * taps));
  expect_equal_bits([&](Machine& machine) {
    const OneState state(static_cast<size_t>((taps - 1) * columns));
    CausalConv op;
    op.x = machine.put(x, rows, columns);
    op.weight = machine.put(weight, columns, taps);
    op.out = machine.make(rows, columns, columns);
    op.state = state.layer;
    op.activation = Activation::kSilu;
    run_in_two_steps(machine, op, rows);
    return get(op.out);
  });
}

TEST(RowBits, GatedDeltas) {
  std::mt19937 random(25);
  const int rows = 13, key_heads = 2, value_heads = 4, key_size = 32, value_size = 48;
  const int columns = 2 * key_heads * key_size + value_heads * value_size;
  const Values x = normal_values(random, static_cast<size_t>(rows * columns)),
               alpha = normal_values(random, static_cast<size_t>(rows * value_heads)),
               beta = normal_values(random, alpha.size());
  expect_equal_bits([&](Machine& machine) {
    const OneState state(static_cast<size_t>(value_heads * key_size * value_size));
    GatedDelta op;
    op.x = machine.put(x, rows, columns);
    op.alpha = machine.put(alpha, rows, value_heads);
    op.beta = machine.put(beta, rows, value_heads);
    op.a = machine.put(Values{-0.5f, -1.0f, -0.1f, -2.0f}, 1, value_heads);
    op.dt = machine.put(Values{0.1f, -0.2f, 0.3f, 0.0f}, 1, value_heads);
    op.out = machine.make(rows, value_heads * value_size, value_heads * value_size);
    op.state = state.layer;
    op.key_heads = key_heads, op.value_heads = value_heads;
    op.key_size = key_size, op.value_size = value_size;
    run_in_two_steps(machine, op, rows);
    return get(op.out);
  });
}

}  // namespace
}  // namespace tempo9::backend::cpu
