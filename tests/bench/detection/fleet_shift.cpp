#include <fmt/format.h>

#include "tests/bench/detection/sections.hpp"
#include "tests/bench/detection/trial.hpp"

namespace fleetbench::bench {
namespace {

using simulation::Fault;
using simulation::FleetSpec;

constexpr int kEarlierRuns = 3;

struct Cell {
  Fault fault = Fault::none;
  double effect = 0;
};

void run_cell(const Plan& plan, FleetSpec spec, const Cell& cell, Acceptance& acceptance) {
  spec.fault = cell.fault;
  spec.effect = cell.effect;
  Tally named;
  Tally false_alarms;
  for (const Trial& trial :
       try_fleets(spec, fleets_for(plan, spec) / 2, series_seed(plan, spec, "fleet shift"),
                  {.earlier_runs = kEarlierRuns})) {
    named.add(trial.plain.named == trial.plain.faults ? 1 : 0);
    false_alarms.add(trial.plain.false_alarms > 0 ? 1 : 0);
  }
  const std::string where = fmt::format("{:<6} {}", to_string(cell.fault), describe(spec));
  fmt::print("{:<40}|{:8.0f} |{:7.1f} |{:6.1f} ±{:3.1f}\n", where, 100 * cell.effect,
             100 * named.mean(), 100 * false_alarms.mean(), 100 * false_alarms.error());
  std::fflush(stdout);
  if (cell.effect >= 0.2) {
    acceptance.add("against a baseline, node or fleet named right at 20 % in at least 99 %", where,
                   0.99 - named.mean(), std::sqrt(0.01 * 0.99 / named.count()));
  }
  if (cell.fault == Fault::none) {
    acceptance.add("healthy fleets alarmed at most 1 %, against a baseline", where,
                   false_alarms.mean() - 0.01, std::sqrt(0.01 * 0.99 / false_alarms.count()));
  }
}

}  // namespace

void run_fleet_shift(const Plan& plan, Acceptance& acceptance) {
  fmt::print(
      "Against {} earlier healthy runs of the same nodes, default minimum effects.\n"
      "{:<40}|effect % |named % |fleets with a false alarm %\n",
      kEarlierRuns, "cell");
  for (const int nodes : plan.quick ? std::vector{8} : std::vector{1, 2, 4, 8, 32, 256}) {
    FleetSpec spec;
    spec.nodes = nodes;
    for (const Cell& cell : {Cell{Fault::none, 0}, Cell{Fault::layer, 0.2},
                             Cell{Fault::fleet, 0.08}, Cell{Fault::fleet, 0.2}}) {
      // All nodes of a fleet of one are one node.
      if (nodes > 1 || cell.fault != Fault::fleet) {
        run_cell(plan, spec, cell, acceptance);
      }
    }
  }
}

}  // namespace fleetbench::bench
