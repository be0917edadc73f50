#include <fmt/format.h>

#include "tests/bench/detection/sections.hpp"
#include "tests/bench/detection/trial.hpp"

namespace fleetbench::bench {
namespace {

using simulation::Fault;
using simulation::FleetSpec;

FleetSpec cell(Fault fault, int nodes, int devices) {
  FleetSpec spec;
  spec.fault = fault;
  spec.nodes = nodes;
  spec.devices = devices;
  return spec;
}

std::vector<FleetSpec> cells(const Plan& plan) {
  if (plan.quick) {
    return {cell(Fault::device, 8, 8), cell(Fault::devices, 8, 8), cell(Fault::metric, 32, 0),
            cell(Fault::unseen, 32, 0)};
  }
  std::vector<FleetSpec> result;
  for (const int nodes : {8, 16, 32, 64}) {
    result.push_back(cell(Fault::layer, nodes, 0));
    result.push_back(cell(Fault::metric, nodes, 0));
    result.push_back(cell(Fault::unseen, nodes, 0));
  }
  for (const int nodes : {5, 8, 32}) {
    for (const Fault fault : {Fault::layer, Fault::device, Fault::devices, Fault::metric}) {
      result.push_back(cell(fault, nodes, 8));
    }
  }
  return result;
}

struct Found {
  Tally found;
  Tally oracle;
  Tally less;
  Tally named;
  Tally false_share;
  Tally level;
  Tally effect;
};

// The same for faults of any size.
Look look_at(const Plan& plan, const FleetSpec& spec) {
  Look look;
  look.plain = false;
  look.fine = true;
  look.focus = spec.fault == Fault::metric ? Focus::metric : Focus::layer;
  look.oracle = oracle_threshold(spec, look.focus, std::max(1000, 8 * fleets_for(plan, spec)),
                                 series_seed(plan, {}, "threshold " + describe(spec)));
  return look;
}

Found run_cell(const Plan& plan, const FleetSpec& spec, const Look& look) {
  Found result;
  for (const Trial& trial :
       try_fleets(spec, fleets_for(plan, spec), series_seed(plan, spec, "culprit"), look)) {
    const Score& score = trial.fine;
    const double faults = score.faults;
    result.found.add(score.found / faults);
    result.oracle.add(trial.oracle.found / faults);
    result.less.add((trial.oracle.found - score.found) / faults);
    result.named.add(score.named / faults);
    result.false_share.add(score.alarms > 0 ? 1.0 * score.false_alarms / score.alarms : 0);
    for (int i = 0; i < score.intervals; ++i) {
      result.level.add(i < score.cover_level ? 1 : 0);
      result.effect.add(i < score.cover_effect ? 1 : 0);
    }
  }
  return result;
}

void judge_cell(const FleetSpec& spec, const Found& cell, const std::string& where,
                Acceptance& acceptance) {
  acceptance.add("false discoveries at most 1 %", where, cell.false_share.mean() - 0.01,
                 std::max(cell.false_share.error(), std::sqrt(0.01 / cell.false_share.count())));
  if (spec.effect == 0.2 && spec.fault != Fault::metric && spec.fault != Fault::unseen) {
    acceptance.add("device, node named right at 20 % in at least 99 %", where,
                   0.99 - cell.named.mean(), std::sqrt(0.01 * 0.99 / cell.named.count()));
  }
  if (!cell.effect.empty()) {
    acceptance.add("90 % intervals cover 85 to 95 %", where,
                   std::max(0.85 - cell.effect.mean(), cell.effect.mean() - 0.95),
                   std::sqrt(0.1 * 0.9 / cell.effect.count()));
  }
}

}  // namespace

void run_culprits(const Plan& plan, Acceptance& acceptance) {
  fmt::print(
      "Minimum effect 0.5 %. `named`: the finding's subject is just the faulty one.\n"
      "{:<40}|effect % |oracle % |found % |behind |named % |FDR % |cover level, effect %\n",
      "cell");
  for (FleetSpec spec : cells(plan)) {
    if (!is_wanted(plan, spec)) {
      continue;
    }
    const Look look = look_at(plan, spec);
    for (const double effect : {0.03, 0.08, 0.2}) {
      spec.effect = effect;
      const Found found = run_cell(plan, spec, look);
      const std::string where =
          fmt::format("{:<8} {} at {:.0f} %", to_string(spec.fault), describe(spec), 100 * effect);
      fmt::print(
          "{:<40}|{:8.0f} |{:8.1f} |{:7.1f} |{:6.1f} ±{:3.1f} |{:7.1f} |{:5.2f} |{:4.0f}"
          "{:4.0f}\n",
          fmt::format("{:<8} {}", to_string(spec.fault), describe(spec)), 100 * effect,
          100 * found.oracle.mean(), 100 * found.found.mean(), 100 * found.less.mean(),
          100 * found.less.error(), 100 * found.named.mean(), 100 * found.false_share.mean(),
          100 * found.level.mean(), 100 * found.effect.mean());
      std::fflush(stdout);
      judge_cell(spec, found, where, acceptance);
    }
  }
}

}  // namespace fleetbench::bench
