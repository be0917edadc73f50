#include "tests/bench/detection/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/bench/detection/trial.hpp"

namespace fleetbench::bench {

const std::vector<Section>& sections() {
  static const std::vector<Section> all{
      {"recall", "healthy fleets alarmed, and one slow layer of one node found, beside the oracle",
       run_recall},
      {"nuisance", "what looks like a fault and is none", run_nuisances},
      {"culprit", "device, node or fleet named right; other families of faults", run_culprits},
      {"pairs", "node, rail, link or switch named right among pairs", run_pairs},
      {"pairs-speed", "seconds of attribution of large matrices of pairs", run_pairs_speed},
      {"integrity", "wrong, failed, missing", run_integrity},
      {"rules", "beside the rules in use today, at their own false-alarm rates", run_rules},
      {"fleet-shift", "all nodes slow, against a baseline", run_fleet_shift}};
  return all;
}

int fleets_for(const Plan& plan, const simulation::FleetSpec& spec) {
  const double size = 1.0 * spec.nodes * std::max(1, spec.devices) * spec.metrics / (32 * 20);
  const double share = std::min(1.0, std::pow(size, -0.75));
  return std::max(std::min(plan.fleets, 20), static_cast<int>(plan.fleets * share));
}

std::uint64_t series_seed(const Plan& plan, const simulation::FleetSpec& spec,
                          const std::string& what) {
  const std::string text =
      fmt::format("{} {} {} {} {} {} {}", what, describe(spec), spec.devices, to_string(spec.fault),
                  to_string(spec.nuisance), spec.effect, spec.imported);
  return seed_of(plan.seed ^ std::hash<std::string>()(text), 0);
}

std::string describe(const simulation::FleetSpec& spec) {
  const bool noisy = spec.spreads == noisy_spreads();
  std::string text = fmt::format("N {:>4} M {:>3} {:<7}{}", spec.nodes, spec.metrics,
                                 to_string(spec.tails), noisy ? " noisy" : "");
  text += spec.devices > 0 ? fmt::format(" dev {}", spec.devices) : "";
  text += spec.faulty > 1 ? fmt::format(" faulty {}", spec.faulty) : "";
  text += spec.correlation > 0 ? fmt::format(" corr {}", spec.correlation) : "";
  return text;
}

bool is_wanted(const Plan& plan, const simulation::FleetSpec& spec) {
  std::string text = describe(spec) + " ";
  text.erase(
      std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
      text.end());
  return text.find(plan.cells) != std::string::npos;
}

std::vector<double> noisy_spreads() { return {0.017, 0.022}; }

}  // namespace fleetbench::bench
