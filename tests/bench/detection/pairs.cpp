// Pairs: whether the part that is at fault is named, and nobody else.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "harness/detect/component_tables.hpp"
#include "harness/detect/detect.hpp"
#include "harness/detect/reduce.hpp"
#include "harness/simulate/pair_fleet.hpp"
#include "tests/bench/detection/sections.hpp"
#include "tests/bench/detection/trial.hpp"

namespace fleetbench::bench {
namespace {

using simulation::PairBlocks;
using simulation::PairFault;
using simulation::PairFleet;
using simulation::PairSpec;

// From so many standard errors on, of what it is measured with, an effect can be told: two more
// than what a fault needs to be seen in nearly all fleets, were all spreads and tails known.
constexpr double kClear = 9;

// Variance of one pair's level: the median of its passes, and what links differ by.
double pair_variance(const PairSpec& spec) {
  const double noise = spec.noise * spec.noise;
  return noise * (1.5708 / spec.passes + spec.between * spec.between);
}

// How many values of pairs tell of the part that is at fault.
double values_of_fault(const PairSpec& spec) {
  const double partners = spec.matchings > 0 ? spec.matchings : spec.nodes - 1;
  switch (spec.fault) {
    case PairFault::link:
      return 1;
    case PairFault::whole_rail:
      return partners * spec.nodes / 2;
    case PairFault::leaf:
    case PairFault::uplink:
      return partners * spec.leaf_size;
    case PairFault::disconnected:
      return spec.matchings > 0 ? partners : spec.nodes / 2 - 1;
    default:
      return partners;
  }
}

bool can_be_told(const PairSpec& spec) {
  if (spec.fault == PairFault::none || spec.fault == PairFault::failed) {
    return true;
  }
  // What crossing between two leaves costs looks the same.
  const bool two_leaves = spec.leaf_size > 0 && 2 * spec.leaf_size >= spec.nodes;
  if ((spec.fault == PairFault::uplink && two_leaves) ||
      (spec.fault == PairFault::link && spec.matchings > 0)) {
    return false;
  }
  // Pairs within and across are two kinds, and which is which is found from the same pairs.
  const double kinds = spec.blocks == PairBlocks::two ? 2 : 1;
  // A median tells as much as 64 % of its values; the node itself differs from others, too.
  const double error = std::sqrt(1.5708 * pair_variance(spec) / (values_of_fault(spec) / kinds) +
                                 std::pow(spec.between * spec.noise, 2));
  return std::log1p(spec.effect) >= kClear * error;
}

// What is simulated, in a column of the table.
struct Column {
  const char* title;
  PairFault fault;
  PairBlocks blocks = PairBlocks::none;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all{
      {"healthy", PairFault::none},
      {"failed", PairFault::failed},
      {"blocks", PairFault::none, PairBlocks::two},
      {"leaves", PairFault::none, PairBlocks::leaves},
      {"node", PairFault::node},
      {"in blocks", PairFault::node, PairBlocks::two},
      {"two nodes", PairFault::two_nodes},
      {"apart", PairFault::disconnected},
      {"rail", PairFault::rail},
      {"all rail", PairFault::whole_rail},
      {"link", PairFault::link},
      {"leaf", PairFault::leaf},
      {"uplink", PairFault::uplink},
  };
  return all;
}

bool is_healthy(PairFault fault) { return fault == PairFault::none || fault == PairFault::failed; }

// A row of the table, without a fault.
std::vector<PairSpec> rows(const Plan& plan) {
  std::vector<PairSpec> result;
  const auto add = [&](int nodes, int matchings) {
    for (const double noise : {0.01, 0.05}) {
      PairSpec spec;
      spec.nodes = nodes;
      spec.matchings = matchings;
      spec.noise = noise;
      spec.symmetric = nodes >= 256;
      // Half a million pairs.
      spec.passes = nodes >= 1024 && matchings == 0 ? 1 : spec.passes;
      result.push_back(spec);
    }
  };
  for (const int nodes : plan.quick ? std::vector{16, 64} : std::vector{8, 16, 64, 256, 1024}) {
    add(nodes, 0);
    if (nodes > 16) {
      add(nodes, 8);
    }
  }
  return result;
}

PairSpec cell_of(PairSpec spec, const Column& column, double effect) {
  const bool rails = column.fault == PairFault::rail || column.fault == PairFault::whole_rail;
  const bool leaves = column.fault == PairFault::leaf || column.fault == PairFault::uplink ||
                      column.blocks == PairBlocks::leaves;
  spec.fault = column.fault;
  spec.blocks = column.blocks;
  spec.effect = effect;
  spec.rails = !rails ? 0 : spec.nodes > 64 ? 2 : 4;
  spec.leaf_size = leaves ? std::clamp(spec.nodes / 4, 2, 32) : 0;
  return spec;
}

std::string describe(const PairSpec& spec) {
  return fmt::format("N {:>5} {:<8} {:.0f} %", spec.nodes,
                     spec.matchings > 0 ? fmt::format("k {}", spec.matchings) : "complete",
                     100 * spec.noise);
}

bool is_slow_alarm(const Finding& finding) {
  return finding.direction == Direction::slow && !finding.explained_by &&
         finding.status != FindingStatus::not_reproduced;
}

// Every part at fault is named, by kind and subject, and nobody else is.
bool is_right(const PairFleet& fleet, const Report& report) {
  std::size_t named = 0;
  for (const Finding& finding : report.findings) {
    const bool is_true = std::ranges::any_of(
        fleet.faults, [&](const auto& fault) { return fault.subject == finding.subject; });
    if (is_slow_alarm(finding) && !is_true) {
      return false;
    }
    named += finding.direction == Direction::slow && is_true;
  }
  return named == fleet.faults.size();
}

int fleets_for_pairs(const Plan& plan, const PairSpec& spec) {
  const double partners = spec.matchings > 0 ? spec.matchings : spec.nodes - 1;
  const double values = spec.nodes * partners * std::max(1, spec.rails);
  const double share = std::min(1.0, std::sqrt(100 / values));
  return std::max(spec.nodes >= 1024 && spec.matchings == 0 ? 2 : 10,
                  static_cast<int>(plan.fleets * share));
}

Tally try_cell(const PairSpec& spec, int count, std::uint64_t seed) {
  std::vector<char> right(static_cast<std::size_t>(count));
  std::atomic<int> next = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      threads.emplace_back([&] {
        for (int index = next++; index < count; index = next++) {
          const PairFleet fleet = simulate_pairs(spec, seed_of(seed, index));
          right[index] = is_right(fleet, analyze(fleet.run)) ? 1 : 0;
        }
      });
    }
  }
  Tally tally;
  for (const char one : right) {
    tally.add(one);
  }
  return tally;
}

void accept(const PairSpec& spec, const std::string& where, const Tally& tally,
            Acceptance& acceptance) {
  const auto claim = [&](const char* what, double least) {
    acceptance.add(what, where, least - tally.mean(),
                   std::sqrt(least * (1 - least) / tally.count()));
  };
  if (is_healthy(spec.fault)) {
    claim("nothing slow named among healthy pairs in 99 %", 0.99);
  } else if (spec.effect >= 0.2) {
    claim("pairs 20 % slower: the right part and no other in 97 %", 0.97);
  } else {
    claim("pairs 10 % slower: the right part and no other in 90 %", 0.9);
  }
}

// "100", or "(43)" where it does not count.
std::string try_cell(const Plan& plan, const PairSpec& spec, const std::string& where,
                     Acceptance& acceptance) {
  const Tally tally = try_cell(spec, fleets_for_pairs(plan, spec),
                               seed_of(plan.seed ^ std::hash<std::string>()(where), 0));
  const std::string share = fmt::format("{:.0f}", 100 * tally.mean());
  if (!can_be_told(spec)) {
    return "(" + share + ")";
  }
  accept(spec, where, tally, acceptance);
  return share;
}

void print_row(const Plan& plan, const PairSpec& row, Acceptance& acceptance) {
  fmt::print("{:<21}", describe(row));
  for (const Column& column : columns()) {
    std::string text;
    for (const double effect : {0.2, 0.1}) {
      const PairSpec spec = cell_of(row, column, effect);
      const std::string where =
          fmt::format("{} {} {:.0f} %", describe(row), column.title, 100 * effect);
      text += text.empty() ? "" : "/";
      text += try_cell(plan, spec, where, acceptance);
      if (is_healthy(spec.fault)) {
        break;
      }
    }
    fmt::print("{:>11}", text);
    std::fflush(stdout);
  }
  fmt::print("\n");
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// From the table of pairs to what can be judged, and the whole of the analysis.
void print_speed(const PairSpec& spec, double limit_s, Acceptance& acceptance) {
  const PairFleet fleet = simulate_pairs(spec, 1);
  detect::Reduced reduced = detect::reduce(fleet.run);
  auto start = std::chrono::steady_clock::now();
  const detect::Switches switches(fleet.run.header.topology, reduced.names.nodes);
  std::vector<detect::PairTables> pairs;
  pairs.push_back(detect::derive(std::move(reduced.tables.front()), reduced.names, switches, 0.05));
  reduced.names.components = detect::components_of(pairs, reduced.names, switches);
  const auto tables = detect::component_tables(pairs.front(), reduced.names);
  const double attribution = seconds_since(start);
  start = std::chrono::steady_clock::now();
  const Report report = analyze(fleet.run);
  const double all = seconds_since(start);
  fmt::print("{:<52}|{:6.2f} s attribution, limit {:.0f} s |{:6.2f} s whole analysis\n",
             describe(spec), attribution, limit_s, all);
  acceptance.add("attribution in time", describe(spec), attribution - limit_s, 0.1);
}

}  // namespace

void run_pairs(const Plan& plan, Acceptance& acceptance) {
  fmt::print(
      "Share of fleets, %, in which just the parts at fault are named as slow, by kind and "
      "subject; "
      "of healthy\nones, in which nobody is. Faults of 20 %/10 %. In brackets what does not count: "
      "the effect is under {:.0f} standard\nerrors, the link was most likely not measured, or "
      "there "
      "are but two leaves.\n{:<21}",
      kClear, "nodes, pairs, noise");
  for (const Column& column : columns()) {
    fmt::print("{:>11}", column.title);
  }
  fmt::print("\n");
  for (const PairSpec& row : rows(plan)) {
    if ((describe(row) + " ").find(plan.cells) != std::string::npos) {
      print_row(plan, row, acceptance);
    }
  }
}

void run_pairs_speed(const Plan& plan, Acceptance& acceptance) {
  PairSpec spec{.nodes = 1024, .passes = 1, .symmetric = true, .fault = PairFault::node};
  if (plan.quick) {
    spec.matchings = 16;
  }
  print_speed(spec, 2, acceptance);
  spec.nodes = 16384;
  spec.matchings = 16;
  print_speed(spec, 5, acceptance);
}

}  // namespace fleetbench::bench
