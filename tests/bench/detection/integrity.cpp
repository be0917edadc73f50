#include <fmt/format.h>

#include "tests/bench/detection/sections.hpp"
#include "tests/bench/detection/trial.hpp"

namespace fleetbench::bench {
namespace {

using simulation::Fault;
using simulation::FleetSpec;

std::vector<FleetSpec> cells() {
  std::vector<FleetSpec> result;
  for (const Fault fault : {Fault::wrong, Fault::failed, Fault::missing}) {
    for (const bool imported : {false, true}) {
      for (const int devices : {0, 8}) {
        for (const int nodes : {5, 8, 32}) {
          FleetSpec spec;
          spec.fault = fault;
          spec.imported = imported;
          spec.devices = devices;
          spec.nodes = nodes;
          result.push_back(spec);
        }
      }
    }
  }
  return result;
}

// Whether every broken part is told of, and nothing else is called broken.
bool all_told(const Score& score) { return score.found == score.faults && !score.other_kind; }

}  // namespace

void run_integrity(const Plan& plan, Acceptance& acceptance) {
  fmt::print(
      "Fleets in which every broken part, and nothing else, is told of as such.\n"
      "{:<44}|told % |named %\n",
      "cell");
  for (const FleetSpec& spec : cells()) {
    Tally told;
    Tally named;
    for (const Trial& trial : try_fleets(spec, std::max(20, fleets_for(plan, spec) / 4),
                                         series_seed(plan, spec, "integrity"), {})) {
      told.add(all_told(trial.plain) ? 1 : 0);
      named.add(trial.plain.named == trial.plain.faults ? 1 : 0);
    }
    const std::string cell = fmt::format("{:<8} {}{}", to_string(spec.fault), describe(spec),
                                         spec.imported ? " imported" : "");
    fmt::print("{:<44}|{:6.1f} |{:6.1f}\n", cell, 100 * told.mean(), 100 * named.mean());
    std::fflush(stdout);
    acceptance.add("wrong, failed, missing: 100 %", cell, 1 - told.mean(), 0);
  }
}

}  // namespace fleetbench::bench
