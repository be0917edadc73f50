#include <fmt/format.h>

#include <algorithm>

#include "tests/bench/detection/rules.hpp"
#include "tests/bench/detection/sections.hpp"
#include "tests/bench/detection/trial.hpp"

namespace fleetbench::bench {
namespace {

using simulation::Fault;
using simulation::FleetSpec;
using simulation::Tails;

const std::vector<double> kEffects{0.01, 0.03, 0.05, 0.08, 0.2};
// How far the detector's false-alarm rate is let go, to reach that of each rule.
const std::vector<double> kFamilyErrors{0.01, 0.05, 0.2, 0.5, 0.9};

std::vector<FleetSpec> cells(const Plan& plan) {
  std::vector<FleetSpec> result;
  const auto sizes = plan.quick ? std::vector{16} : std::vector{8, 16, 32, 64};
  for (const int nodes : sizes) {
    FleetSpec spec;
    spec.nodes = nodes;
    result.push_back(spec);
    if (!plan.quick && nodes == 32) {
      spec.tails = Tails::t4;
      result.push_back(spec);
      spec.tails = Tails::bimodal;
      result.push_back(spec);
      spec.tails = Tails::normal;
      spec.spreads = noisy_spreads();
      result.push_back(spec);
    }
  }
  return result;
}

// Of one detector: healthy fleets alarmed, and recall by effect.
struct Curve {
  Tally alarmed;
  std::vector<Tally> recall = std::vector<Tally>(kEffects.size());
};

struct Cell {
  std::vector<Curve> ours = std::vector<Curve>(kFamilyErrors.size());
  std::vector<Curve> rules = std::vector<Curve>(bench::rules().size());
};

void add_healthy(const Trial& trial, Cell& cell) {
  for (std::size_t i = 0; i < cell.ours.size(); ++i) {
    cell.ours[i].alarmed.add(trial.relaxed[i].alarms > 0 ? 1 : 0);
  }
  for (std::size_t i = 0; i < cell.rules.size(); ++i) {
    cell.rules[i].alarmed.add(trial.rules[i].alarm ? 1 : 0);
  }
}

void add_faulty(const Trial& trial, std::size_t effect, Cell& cell) {
  for (std::size_t i = 0; i < cell.ours.size(); ++i) {
    cell.ours[i].recall[effect].add(1.0 * trial.relaxed[i].found / trial.relaxed[i].faults);
  }
  for (std::size_t i = 0; i < cell.rules.size(); ++i) {
    cell.rules[i].recall[effect].add(1.0 * trial.rules[i].found / trial.relaxed[0].faults);
  }
}

Cell run_cell(const Plan& plan, FleetSpec spec) {
  Cell cell;
  const Look look{.plain = false, .family_errors = kFamilyErrors, .rules = true};
  const int fleets = fleets_for(plan, spec);
  for (const Trial& trial : try_fleets(spec, fleets, series_seed(plan, spec, "rules"), look)) {
    add_healthy(trial, cell);
  }
  spec.fault = Fault::layer;
  for (std::size_t i = 0; i < kEffects.size(); ++i) {
    spec.effect = kEffects[i];
    for (const Trial& trial : try_fleets(spec, fleets, series_seed(plan, spec, "rules"), look)) {
      add_faulty(trial, i, cell);
    }
  }
  return cell;
}

// Our recall where as many healthy fleets are alarmed as `rate`; between two family errors, and at
// the last one where no family error alarms so many.
double recall_at(const Cell& cell, double rate, std::size_t effect) {
  const auto& ours = cell.ours;
  if (rate <= ours.front().alarmed.mean()) {
    return ours.front().recall[effect].mean();
  }
  for (std::size_t i = 1; i < ours.size(); ++i) {
    const double low = ours[i - 1].alarmed.mean();
    const double high = ours[i].alarmed.mean();
    if (rate <= high && high > low) {
      const double share = (rate - low) / (high - low);
      return (1 - share) * ours[i - 1].recall[effect].mean() +
             share * ours[i].recall[effect].mean();
    }
  }
  return ours.back().recall[effect].mean();
}

void print_curve(const std::string& name, const Curve& curve) {
  fmt::print("  {:<24}|{:5.1f} |", name, 100 * curve.alarmed.mean());
  for (const Tally& recall : curve.recall) {
    fmt::print(" {:5.1f}", 100 * recall.mean());
  }
}

void print_ours(const Cell& cell) {
  for (std::size_t i = 0; i < cell.ours.size(); ++i) {
    print_curve(fmt::format("ours, error {}", kFamilyErrors[i]), cell.ours[i]);
    fmt::print("\n");
  }
}

// Returns by how much ours is worse at the rule's rate, averaged over the effects.
double print_rule(const Cell& cell, std::size_t rule) {
  const Curve& curve = cell.rules[rule];
  print_curve(bench::rules()[rule].name, curve);
  fmt::print(" | ours at that rate:");
  double worse = 0;
  for (std::size_t i = 0; i < kEffects.size(); ++i) {
    const double recall = recall_at(cell, curve.alarmed.mean(), i);
    worse += curve.recall[i].mean() - recall;
    fmt::print(" {:5.1f}", 100 * recall);
  }
  fmt::print("\n");
  return worse / static_cast<double>(kEffects.size());
}

double error_of(const Curve& curve) {
  double variance = 0;
  for (const Tally& recall : curve.recall) {
    // An observed share of 0 or 1 has no error of its own.
    const double error = std::max(recall.error(), 0.5 / recall.count());
    variance += error * error;
  }
  return std::sqrt(variance) / static_cast<double>(curve.recall.size());
}

}  // namespace

void run_rules(const Plan& plan, Acceptance& acceptance) {
  fmt::print(
      "Healthy fleets alarmed, %, and recall of one slow layer of one node at 1, 3, 5, 8, "
      "20 %.\n");
  for (const FleetSpec& spec : cells(plan)) {
    if (!is_wanted(plan, spec)) {
      continue;
    }
    const Cell cell = run_cell(plan, spec);
    fmt::print("{}\n", describe(spec));
    print_ours(cell);
    for (std::size_t i = 0; i < cell.rules.size(); ++i) {
      const double worse = print_rule(cell, i);
      acceptance.add("at least as good as each rule in use at its own false-alarm rate",
                     fmt::format("{}, {}", bench::rules()[i].name, describe(spec)), worse,
                     std::hypot(error_of(cell.rules[i]), error_of(cell.ours[0])));
    }
    std::fflush(stdout);
  }
}

}  // namespace fleetbench::bench
