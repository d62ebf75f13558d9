// For tests: how often this program has allocated. Linking testing/allocations.cpp replaces operator new.
#pragma once

namespace tempo9::sample::testing {
int allocations_so_far();
}  // namespace tempo9::sample::testing
