#include <fmt/format.h>

#include <algorithm>

#include "tests/bench/detection/sections.hpp"
#include "tests/bench/detection/trial.hpp"

namespace fleetbench::bench {
namespace {

using simulation::Fault;
using simulation::FleetSpec;
using simulation::Tails;

const std::vector<double> kEffects{0.01, 0.03, 0.05, 0.08, 0.2, 0.5, 1.2};
constexpr double kLargeEffect = 0.3;  // nearly always found: fewer fleets will do

std::vector<FleetSpec> cells(const Plan& plan) {
  std::vector<FleetSpec> result;
  const auto add = [&result](int nodes, int metrics, Tails tails, bool noisy, int faulty = 1,
                             int devices = 0) {
    FleetSpec spec;
    spec.nodes = nodes;
    spec.metrics = metrics;
    spec.tails = tails;
    spec.spreads = noisy ? noisy_spreads() : spec.spreads;
    spec.faulty = faulty;
    spec.devices = devices;
    result.push_back(spec);
  };
  if (plan.quick) {
    for (const int nodes : {8, 32, 64}) {
      add(nodes, 20, Tails::normal, false);
    }
    add(32, 20, Tails::t4, false);
    add(32, 20, Tails::normal, true);
    return result;
  }
  for (const Tails tails : simulation::all_tails()) {
    for (const int nodes : {5, 8, 16, 32, 64, 256, 1024}) {
      add(nodes, 20, tails, false);
    }
    for (const int nodes : {8, 32, 256}) {
      add(nodes, 20, tails, true);
    }
    for (const int nodes : {8, 32, 256}) {
      add(nodes, 100, tails, false);
    }
    add(64, 20, tails, false, 2);
    add(64, 20, tails, false, 6);
    add(256, 20, tails, false, 5);
    add(256, 20, tails, false, 25);
    add(8, 20, tails, false, 1, 8);
    add(32, 20, tails, false, 1, 8);
  }
  for (const int nodes : {8, 32}) {
    FleetSpec spec;
    spec.nodes = nodes;
    spec.correlation = 0.5;
    result.push_back(spec);
  }
  return result;
}

// Points that the recall may lie below the oracle's; no promise below 8 nodes.
std::optional<double> allowed(const FleetSpec& spec) {
  if (spec.nodes < 8) {
    return std::nullopt;
  }
  if (spec.spreads == noisy_spreads()) {
    return 0.08;
  }
  return spec.nodes >= 32 ? 0.03 : 0.05;
}

struct Found {
  Tally ours;
  Tally oracle;
  Tally less;  // oracle - ours, fleet by fleet
  Tally at_default;
};

struct Precision {
  Tally false_share;
  Tally top;
  Tally level;
  Tally effect;
};

void add_trial(const Trial& trial, Found& found, Precision& precision) {
  const Score& score = trial.fine;
  const double faults = score.faults;
  found.ours.add(score.found / faults);
  found.at_default.add(trial.plain.found / faults);
  found.oracle.add(trial.oracle.found / faults);
  found.less.add((trial.oracle.found - score.found) / faults);
  for (const Score* each : {&trial.fine, &trial.plain}) {
    precision.false_share.add(each->alarms > 0 ? 1.0 * each->false_alarms / each->alarms : 0);
  }
  if (score.top > 0) {
    precision.top.add(1.0 * score.top_true / score.top);
  }
  for (int i = 0; i < score.intervals; ++i) {
    precision.level.add(i < score.cover_level ? 1 : 0);
    precision.effect.add(i < score.cover_effect ? 1 : 0);
  }
}

struct CellResult {
  Tally healthy_default;
  Tally healthy_fine;
  Tally healthy_oracle;
  std::vector<Found> effects;
  Precision precision;
};

CellResult run_cell(const Plan& plan, FleetSpec spec) {
  CellResult result;
  Look look;
  look.fine = true;
  // The threshold is a 99 % quantile: it needs more fleets than shares do, and costs little.
  look.oracle = oracle_threshold(spec, look.focus, std::max(1000, 8 * fleets_for(plan, spec)),
                                 series_seed(plan, spec, "threshold"));
  for (const Trial& trial :
       try_fleets(spec, 2 * fleets_for(plan, spec), series_seed(plan, spec, "healthy"), look)) {
    result.healthy_default.add(trial.plain.alarms > 0 ? 1 : 0);
    result.healthy_fine.add(trial.fine.alarms > 0 ? 1 : 0);
    result.healthy_oracle.add(trial.oracle.alarm ? 1 : 0);
  }
  spec.fault = Fault::layer;
  for (const double effect : kEffects) {
    spec.effect = effect;
    Found found;
    const int fleets = fleets_for(plan, spec) / (effect > kLargeEffect ? 4 : 1);
    for (const Trial& trial : try_fleets(spec, fleets, series_seed(plan, spec, "faulty"), look)) {
      add_trial(trial, found, result.precision);
    }
    result.effects.push_back(found);
  }
  return result;
}

std::string recalls(const CellResult& cell, Tally Found::*whose) {
  std::string text;
  double sum = 0;
  for (const Found& found : cell.effects) {
    sum += (found.*whose).mean();
  }
  for (std::size_t i = 0; i < 5; ++i) {
    text += fmt::format(" {:3.0f}", 100 * (cell.effects[i].*whose).mean());
  }
  return text + fmt::format(" {:5.1f}", 100 * sum / static_cast<double>(cell.effects.size()));
}

// Mean of the effects of the grid, and its error.
std::pair<double, double> behind(const CellResult& cell) {
  double sum = 0;
  double variance = 0;
  for (const Found& found : cell.effects) {
    sum += found.less.mean();
    variance += found.less.error() * found.less.error();
  }
  const auto count = static_cast<double>(cell.effects.size());
  return {sum / count, std::sqrt(variance) / count};
}

void print_cell(const FleetSpec& spec, const CellResult& cell) {
  const auto [less, error] = behind(cell);
  fmt::print(
      "{:<36}|{:5.1f}{:5.1f}{:5.1f} ±{:3.1f} |{} |{} |{:5.1f} ±{:3.1f} |{} |{:5.2f} ±{:4.2f} "
      "|{:4.0f} |{:4.0f}{:4.0f}\n",
      describe(spec), 100 * cell.healthy_default.mean(), 100 * cell.healthy_fine.mean(),
      100 * cell.healthy_oracle.mean(), 100 * cell.healthy_fine.error(),
      recalls(cell, &Found::oracle), recalls(cell, &Found::ours), 100 * less, 100 * error,
      recalls(cell, &Found::at_default), 100 * cell.precision.false_share.mean(),
      100 * cell.precision.false_share.error(), 100 * cell.precision.top.mean(),
      100 * cell.precision.level.mean(), 100 * cell.precision.effect.mean());
  std::fflush(stdout);
}

// The error of a share that is just at its limit: an observed 0 or 1 has none of its own.
double error_at(double limit, const Tally& tally) {
  return std::sqrt(limit * (1 - limit) / std::max(1.0, tally.count()));
}

void judge_cell(const FleetSpec& spec, const CellResult& cell, Acceptance& acceptance) {
  const std::string where = describe(spec);
  for (const auto& [name, healthy] : {std::pair("default minimum effects", &cell.healthy_default),
                                      std::pair("minimum effect 0.5 %", &cell.healthy_fine)}) {
    acceptance.add(fmt::format("healthy fleets alarmed at most 1 %, {}", name), where,
                   healthy->mean() - 0.01, error_at(0.01, *healthy));
  }
  acceptance.add(
      "false discoveries at most 1 %", where, cell.precision.false_share.mean() - 0.01,
      std::max(cell.precision.false_share.error(), error_at(0.01, cell.precision.false_share)));
  if (const auto limit = allowed(spec)) {
    const auto [less, error] = behind(cell);
    acceptance.add(fmt::format("recall at most {:.0f} points below the oracle, {}", 100 * *limit,
                               *limit > 0.07     ? "noisy fleets"
                               : spec.nodes < 32 ? "8 and 16 nodes"
                                                 : "32 nodes and more"),
                   where, less - *limit, error);
  }
  if (!cell.precision.effect.empty()) {
    const double cover = cell.precision.effect.mean();
    acceptance.add("90 % intervals cover 85 to 95 %", where, std::max(0.85 - cover, cover - 0.95),
                   error_at(0.9, cell.precision.effect));
  }
}

}  // namespace

void run_recall(const Plan& plan, Acceptance& acceptance) {
  fmt::print(
      "Faults: all metrics of a layer of one node (or `faulty` nodes). Recall at 1, 3, 5, 8, 20 % "
      "and the mean over 1 to 120 %; ours with minimum effect 0.5 % in all layers, then with the "
      "default ones.\n{:<36}|healthy %: def fine orac |oracle: 1   3   5   8  20  mean |ours: 1   "
      "3   5 ... |behind |default min. effect |FDR % |top%|cover level, effect %\n",
      "cell");
  for (const FleetSpec& spec : cells(plan)) {
    if (!is_wanted(plan, spec)) {
      continue;
    }
    const CellResult cell = run_cell(plan, spec);
    print_cell(spec, cell);
    judge_cell(spec, cell, acceptance);
  }
}

}  // namespace fleetbench::bench
