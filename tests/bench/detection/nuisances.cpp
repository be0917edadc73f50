#include <fmt/format.h>

#include "tests/bench/detection/sections.hpp"
#include "tests/bench/detection/trial.hpp"

namespace fleetbench::bench {
namespace {

using simulation::FleetSpec;
using simulation::Nuisance;
using simulation::Tails;

std::vector<FleetSpec> cells(const Plan& plan) {
  std::vector<FleetSpec> result;
  const auto sizes = plan.quick ? std::vector{32} : std::vector{8, 16, 32, 256};
  for (const Nuisance nuisance : simulation::all_nuisances()) {
    for (const int nodes : sizes) {
      // 30 % of fewer nodes are two or three, and nobody could tell them from faults.
      if (nuisance == Nuisance::none || (nuisance == Nuisance::generations && nodes < 16)) {
        continue;
      }
      FleetSpec spec;
      spec.nodes = nodes;
      spec.nuisance = nuisance;
      result.push_back(spec);
      if (!plan.quick && nodes == 32) {
        spec.tails = Tails::t4;
        result.push_back(spec);
        spec.tails = Tails::normal;
        spec.imported = true;
        result.push_back(spec);
        spec.imported = false;
        spec.devices = 4;
        spec.nodes = 16;
        result.push_back(spec);
      }
    }
  }
  return result;
}

}  // namespace

void run_nuisances(const Plan& plan, Acceptance& acceptance) {
  fmt::print(
      "Share of fleets with any slow finding that is suspect or confirmed, though nothing is "
      "wrong, %.\n{:<52}|default min. effect |minimum effect 0.5 %\n",
      "cell");
  for (const FleetSpec& spec : cells(plan)) {
    if (!is_wanted(plan, spec)) {
      continue;
    }
    Tally at_default;
    Tally fine;
    Look look;
    look.fine = true;
    for (const Trial& trial :
         try_fleets(spec, fleets_for(plan, spec), series_seed(plan, spec, "nuisance"), look)) {
      at_default.add(trial.plain.alarms > 0 ? 1 : 0);
      fine.add(trial.fine.alarms > 0 ? 1 : 0);
    }
    const std::string cell = fmt::format("{:<12}{}{}", to_string(spec.nuisance), describe(spec),
                                         spec.imported ? " imported" : "");
    fmt::print("{:<52}|{:5.1f} ±{:3.1f}          |{:5.1f} ±{:3.1f}\n", cell,
               100 * at_default.mean(), 100 * at_default.error(), 100 * fine.mean(),
               100 * fine.error());
    std::fflush(stdout);
    acceptance.add("nuisances alarmed at most 2 %", cell, at_default.mean() - 0.02,
                   std::sqrt(0.02 * 0.98 / at_default.count()));
  }
}

}  // namespace fleetbench::bench
