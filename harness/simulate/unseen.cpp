// A node that gets worse from pass to pass in one layer, and drags a second one along with half of
// the effect.
#include <algorithm>
#include <cmath>

#include "harness/simulate/faults.hpp"

namespace fleetbench::simulation {
namespace {

// Half of the effect in the first pass, one and a half times in the last, the effect on average.
double share_in(int pass, int passes) {
  return passes < 2 ? 1 : 0.5 + static_cast<double>(pass) / (passes - 1);
}

void worsen(Fleet& fleet, const Group& group, int node, double effect) {
  for (std::size_t m = group.first; m < group.first + group.count; ++m) {
    for (int pass = 0; pass < fleet.spec.passes; ++pass) {
      fleet.shifts.push_back(
          {m, node, pass, std::log1p(effect * share_in(pass, fleet.spec.passes))});
    }
  }
  note_slow(fleet, group, {.kind = "node", .node = node_name(node)}, effect);
}

}  // namespace

void add_unseen(Fleet& fleet, Random& random) {
  const Group& first = any_group(fleet, random, false);
  const Group& second = any_group(fleet, random, false);
  for (const int node : random.some_of(fleet.spec.nodes, fleet.spec.faulty)) {
    worsen(fleet, first, node, fleet.spec.effect);
    if (&second != &first) {
      worsen(fleet, second, node, fleet.spec.effect / 2);
    }
  }
}

}  // namespace fleetbench::simulation
