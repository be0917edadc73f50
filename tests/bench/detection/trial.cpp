#include "tests/bench/detection/trial.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "harness/detect/baseline_build.hpp"
#include "harness/detect/detect.hpp"
#include "harness/simulate/run_data.hpp"
#include "tests/bench/detection/rules.hpp"

namespace fleetbench::bench {
namespace {

using simulation::Fleet;
using simulation::FleetSpec;

constexpr double kFineEffect = 0.005;
constexpr double kHealthyAlarmed = 0.01;

DetectOptions fine_options(std::optional<double> family_error = {}) {
  DetectOptions options;
  for (const Layer layer : all_layers()) {
    options.min_effect[layer] = kFineEffect;
  }
  options.family_error = family_error.value_or(options.family_error);
  return options;
}

// What would have been found with a smaller family error.
Report at_error(Report report, double error) {
  std::erase_if(report.findings, [error](const Finding& finding) {
    return finding.direction == Direction::slow && finding.p_value > error;
  });
  return report;
}

// Of runs 1 to `runs`; null without any.
std::shared_ptr<const Baseline> baseline_of(FleetSpec spec, std::uint64_t seed, int runs) {
  spec.fault = simulation::Fault::none;
  std::vector<RunData> earlier;
  std::vector<Report> reports;
  for (int run = 1; run <= runs; ++run) {
    earlier.push_back(to_run(simulate_fleet(spec, seed, static_cast<std::uint32_t>(run))));
    reports.push_back(analyze(earlier.back()));
  }
  std::vector<BaselineRun> judged;
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    judged.push_back({&earlier[i], &reports[i]});
  }
  if (judged.empty()) {
    return nullptr;
  }
  return std::make_shared<const Baseline>(
      build_baseline(judged, earlier.back().header.created).baseline);
}

// work(index) for each index, spread over the cores.
template <typename Work>
void on_all_cores(int count, Work work) {
  std::atomic<int> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (int index = next++; index < count; index = next++) {
        work(index);
      }
    });
  }
}

// flagged(group, node): whether a detector calls it slow there.
template <typename Flagged>
Verdicts verdicts(const Fleet& fleet, Flagged flagged) {
  Verdicts result;
  for (std::size_t g = 0; g < fleet.groups.size(); ++g) {
    for (int node = 0; node < fleet.spec.nodes; ++node) {
      if (!flagged(g, node)) {
        continue;
      }
      result.alarm = true;
      const auto name = simulation::node_name(node);
      result.found += static_cast<int>(std::ranges::count_if(fleet.faults, [&](const auto& fault) {
        return fault.layer == fleet.groups[g].layer && fault.subject.node == name;
      }));
    }
  }
  return result;
}

Verdicts ask_oracle(const Fleet& fleet, double threshold, Focus focus) {
  const Values2 scores = oracle_scores(fleet, medians(fleet), focus);
  return verdicts(fleet, [&](std::size_t g, int node) { return scores[g][node] > threshold; });
}

Verdicts ask_rule(const Fleet& fleet, const Rule& rule) {
  const Flags flags = apply(rule, fleet);
  return verdicts(fleet, [&](std::size_t g, int node) { return flags[g][node]; });
}

}  // namespace

std::uint64_t seed_of(std::uint64_t seed, int index) {
  // SplitMix64: neighbouring series and indices give unlike seeds.
  std::uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(index) + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

Trial try_fleet(const FleetSpec& spec, std::uint64_t seed, const Look& look) {
  const Fleet fleet = simulate_fleet(spec, seed);
  const RunData run = to_run(fleet);
  Trial trial;
  if (look.plain) {
    DetectOptions options;
    options.baseline = baseline_of(spec, seed, look.earlier_runs);
    trial.plain = score(fleet, analyze(run, options));
  }
  if (look.fine) {
    trial.fine = score(fleet, analyze(run, fine_options()));
  }
  if (look.oracle) {
    trial.oracle = ask_oracle(fleet, *look.oracle, look.focus);
  }
  if (!look.family_errors.empty()) {
    const Report report = analyze(run, fine_options(std::ranges::max(look.family_errors)));
    for (const double error : look.family_errors) {
      trial.relaxed.push_back(score(fleet, at_error(report, error)));
    }
  }
  for (std::size_t i = 0; look.rules && i < rules().size(); ++i) {
    trial.rules.push_back(ask_rule(fleet, rules()[i]));
  }
  return trial;
}

std::vector<Trial> try_fleets(const FleetSpec& spec, int count, std::uint64_t seed,
                              const Look& look) {
  std::vector<Trial> trials(static_cast<std::size_t>(count));
  on_all_cores(count, [&](int i) { trials[i] = try_fleet(spec, seed_of(seed, i), look); });
  return trials;
}

double oracle_threshold(FleetSpec spec, Focus focus, int count, std::uint64_t seed) {
  spec.fault = simulation::Fault::none;
  std::vector<double> most(static_cast<std::size_t>(count));
  on_all_cores(count, [&](int i) {
    const Fleet fleet = simulate_fleet(spec, seed_of(seed, i));
    most[i] = largest(oracle_scores(fleet, medians(fleet), focus));
  });
  const auto place = most.begin() + std::lround(std::floor(kHealthyAlarmed * count));
  std::ranges::nth_element(most, place, std::greater<>());
  return *place;
}

}  // namespace fleetbench::bench
