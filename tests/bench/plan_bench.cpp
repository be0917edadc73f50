// How long it takes to plan who meets whom: plan_bench prints seconds for fleets of growing size.
#include <fmt/format.h>

#include <chrono>

#include "harness/plan/slots.hpp"

namespace {

using fleetbench::Pairs;
using fleetbench::Participants;

fleetbench::plan::PlannedStep step_of(Participants participants) {
  fleetbench::plan::PlannedStep step;
  step.probe.participants = participants;
  step.passes = 5;
  return step;
}

// What `full` has: nodes by themselves, matchings, re-shuffled groups, and all nodes as one.
std::vector<fleetbench::plan::PlannedStep> steps_with(Pairs pairs) {
  std::vector<fleetbench::plan::PlannedStep> steps(5, step_of(Participants::node));
  steps.push_back(step_of(Participants::pair));
  steps.back().scenario.pairs = pairs;
  steps.back().scenario.matchings = 16;
  steps.push_back(step_of(Participants::group));
  steps.push_back(step_of(Participants::group));
  steps.back().scenario.groups = fleetbench::Groups{.size = 8, .rounds = 8};
  return steps;
}

void time_of(const char* what, int nodes, Pairs pairs) {
  const auto steps = steps_with(pairs);
  const auto start = std::chrono::steady_clock::now();
  const auto slots = fleetbench::plan::make_slots(steps, nodes, 1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{:>6} nodes, {:<13} {:>7} slots {:>8.3f} s\n", nodes, what, slots.size(),
             took.count());
}

}  // namespace

int main() {
  for (const int nodes : {256, 1024}) {
    time_of("all pairs", nodes, Pairs::all_pairs);
  }
  for (const int nodes : {1024, 4096, 16384}) {
    time_of("16 matchings", nodes, Pairs::matchings);
  }
  return 0;
}
