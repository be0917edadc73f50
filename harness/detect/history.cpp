#include "harness/detect/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/detect/baseline_inventory.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFleet = 3;  // nodes; fewer are judged by the baseline alone
// A baseline of many subjects is not worth as many: fleets change.
constexpr double kMostDegrees = 20;
constexpr double kHistoryDegrees = 10;
constexpr double kAllAlike = 0.8;
constexpr double kSome = 0.2;
constexpr double kSurely = 3;        // sigmas of what a fleet moves from run to run
constexpr double kQuantile = 1.645;  // 90 % interval of a normal variable
constexpr std::size_t kMostMetrics = 12;

bool compares(const Table& table) {
  return table.role == Role::own && table.look == Look::measured && table.part == Part::metric &&
         !table.of_groups() && !table.of_its_devices;
}

BaselineKey key_of(const RunData& run, const Table& table) {
  return key_of(run, run.steps.at(table.step), table.info);
}

const std::string& cohort_of(const Names& names, const Row& row) {
  return names.cohort_names[names.cohorts[row.node]];
}

double squared(double value) { return value * value; }

// Of a subject's level against its own past: it differs from run to run by more than its passes
// explain. Where only one run is known, subjects have to stand for that.
double history_variance(const BaselineMetric& metric, std::size_t passes) {
  const double by_passes = 2 * squared(metric.within) * median_variance(passes);
  const double by_runs =
      metric.run_to_run > 0 ? squared(metric.run_to_run) : squared(metric.between);
  return std::max(by_passes, by_runs);
}

struct Past {
  double x = 0;
  double variance = 0;
};

std::optional<Past> past_of(const BaselineView& baseline, const BaselineKey& key,
                            const Names& names, const Table& table, const Row& row) {
  const std::string& cohort = cohort_of(names, row);
  const BaselineMetric* metric = baseline.metric(key, cohort);
  if (metric == nullptr) {
    return std::nullopt;
  }
  const BaselineSubject* own = baseline.subject(
      key, names.nodes[row.node], row.device >= 0 ? names.devices[row.device] : std::string());
  if (own != nullptr && own->cohort == cohort) {
    return Past{to_x(own->value, table.info.better),
                history_variance(*metric, table.passes.size())};
  }
  return Past{to_x(metric->median, table.info.better), squared(metric->between)};
}

std::size_t count_nodes(const Table& table) {
  std::set<int> nodes;
  for (const Row& row : table.rows) {
    nodes.insert(row.node);
  }
  return nodes.size();
}

Table history_of(const RunData& run, const Names& names, const BaselineView& baseline,
                 const Table& table) {
  Table history = empty_like(table);
  history.look = Look::history;
  const BaselineKey key = key_of(run, table);
  std::map<int, Prior> expected;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto past = past_of(baseline, key, names, table, table.rows[row]);
    if (!past) {
      continue;
    }
    history.add_row(table.rows[row]);
    const auto values = history.values(history.rows.size() - 1);
    for (std::size_t pass = 0; pass < values.size(); ++pass) {
      values[pass] = table.values(row)[pass] - past->x;
    }
    Prior& prior = expected[names.cohorts[table.rows[row].node]];
    prior.variance = std::max(prior.variance, past->variance);
    prior.degrees = kHistoryDegrees;
  }
  history.expected = std::move(expected);
  history.fixed_reference = count_nodes(history) < kFleet;
  return history;
}

// One metric of a fleet that moved, or did not.
struct Shift {
  const Table* table = nullptr;
  std::size_t subjects = 0;
  std::size_t slower = 0;  // by half the minimum effect and more
  std::size_t faster = 0;
  std::size_t surely = 0;  // slower by the minimum effect, and more than subjects move
  double median = 0;
  double sigma = 0;  // of the median, were the fleet what it was
};

Shift shift_of(const Table& table, double interest) {
  Shift shift;
  shift.table = &table;
  double from_run_to_run = 0;
  for (const auto& [cohort, prior] : table.expected) {
    from_run_to_run = std::max(from_run_to_run, prior.variance);
  }
  const double surely = std::max(interest, kSurely * std::sqrt(from_run_to_run));
  std::vector<double> levels;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (const double x = level(table.values(row)); !std::isnan(x)) {
      levels.push_back(x);
      shift.slower += x > interest / 2;
      shift.faster += x < -interest / 2;
      shift.surely += x > surely;
    }
  }
  shift.subjects = levels.size();
  const double spread = robust_sigma(levels);
  shift.median = median(std::move(levels));
  // The subjects of a run move together to an unknown part: as much as one of them does.
  shift.sigma = std::sqrt(from_run_to_run + squared(spread) * median_variance(shift.subjects));
  return shift;
}

bool most(std::size_t some, std::size_t all) {
  return static_cast<double>(some) >= kAllAlike * static_cast<double>(all);
}

bool moved(const Shift& shift, double interest) {
  return std::abs(shift.median) >= interest && std::abs(shift.median) >= kSurely * shift.sigma;
}

MetricEvidence evidence_of(const Shift& shift, double now) {
  const Better better = shift.table->info.better;
  return {shift.table->metric, shift.table->info.unit, to_value(now, better),
          to_value(now - shift.median, better), to_pct(shift.median)};
}

Finding finding_of(const std::vector<std::pair<Shift, double>>& shifts) {
  const auto& [lead, now] =
      *std::ranges::max_element(shifts, {}, [](const auto& entry) { return entry.first.median; });
  Finding finding;
  finding.subject.kind = "fleet";
  finding.layer = lead.table->info.layer;
  finding.slowdown_pct = to_pct(lead.median);
  finding.ci_low_pct = to_pct(lead.median - kQuantile * lead.sigma);
  finding.ci_high_pct = to_pct(lead.median + kQuantile * lead.sigma);
  finding.p_value = 0.5 * std::erfc(lead.median / lead.sigma / std::sqrt(2));
  for (const auto& [shift, level] : shifts) {
    if (finding.metrics.size() < kMostMetrics) {
      finding.metrics.push_back(evidence_of(shift, level));
      finding.evidence.push_back(
          {fmt::format("{}: {} of {} are slower than in the baseline, the median by {:.1f} %",
                       shift.table->metric, shift.slower, shift.subjects, to_pct(shift.median)),
           "baseline"});
    }
  }
  finding.next_check =
      "All are slow at once, so look at what they share: data and its version, parameters of the "
      "job, driver, libraries and kernel, shared storage, the network; then at power and cooling "
      "of the hall.";
  return finding;
}

void add_inventory_changes(const RunData& run, const Baseline& baseline, const Names& names,
                           Finding& finding) {
  for (std::size_t cohort = 0; cohort < names.cohort_names.size(); ++cohort) {
    std::vector<NodeInfo> nodes;
    for (const NodeInfo& node : run.header.nodes) {
      if (names.cohorts[static_cast<std::size_t>(node.index)] == static_cast<int>(cohort)) {
        nodes.push_back(node);
      }
    }
    for (const std::string& change :
         inventory_changes(baseline, names.cohort_names[cohort], nodes)) {
      finding.evidence.push_back({"changed since: " + change, "inventory"});
    }
  }
}

double level_of_fleet(const std::vector<Table>& tables, const Table& history) {
  for (const Table& table : tables) {
    if (compares(table) && table.metric == history.metric && table.step == history.step) {
      std::vector<double> levels;
      for (std::size_t row = 0; row < table.rows.size(); ++row) {
        if (const double x = level(table.values(row)); !std::isnan(x)) {
          levels.push_back(x);
        }
      }
      return median(std::move(levels));
    }
  }
  return 0;
}

std::string note_of_some(const Shift& shift) {
  return fmt::format(
      "{}: {} of {} are slower than in the baseline: look for what they share (switch, rack, "
      "driver, firmware)",
      shift.table->metric, shift.surely, shift.subjects);
}

}  // namespace

std::size_t expect_spreads(const RunData& run, const Names& names, const BaselineView& baseline,
                           std::vector<Table>& tables) {
  std::size_t known = 0;
  for (Table& table : tables) {
    if (!compares(table)) {
      continue;
    }
    const BaselineKey key = key_of(run, table);
    bool knows = false;
    for (std::size_t cohort = 0; cohort < names.cohort_names.size(); ++cohort) {
      const BaselineMetric* metric = baseline.metric(key, names.cohort_names[cohort]);
      knows = knows || metric != nullptr;
      if (metric != nullptr && metric->between > 0 && metric->subjects > 1) {
        table.expected[static_cast<int>(cohort)] = {
            squared(metric->between),
            std::min(kMostDegrees, static_cast<double>(metric->subjects - 1))};
      }
    }
    known += knows;
  }
  return known;
}

std::vector<Table> tables_of_history(const RunData& run, const Names& names,
                                     const BaselineView& baseline,
                                     const std::vector<Table>& tables) {
  std::vector<Table> result;
  for (const Table& table : tables) {
    if (compares(table)) {
      Table history = history_of(run, names, baseline, table);
      if (!history.rows.empty()) {
        result.push_back(std::move(history));
      }
    }
  }
  return result;
}

FleetShift fleet_shift(const RunData& run, const std::vector<Table>& tables,
                       const std::vector<Table>& history, const Baseline& baseline,
                       const Names& names, const DetectOptions& options) {
  FleetShift result;
  std::map<Layer, std::vector<std::pair<Shift, double>>> slower;
  for (const Table& table : history) {
    const double interest = std::log1p(min_effect(options, table.info.layer));
    const Shift shift = shift_of(table, interest);
    if (count_nodes(table) < kFleet) {
      continue;
    }
    if (moved(shift, interest) && most(shift.slower, shift.subjects)) {
      slower[table.info.layer].emplace_back(shift, level_of_fleet(tables, table));
    } else if (moved(shift, interest) && most(shift.faster, shift.subjects)) {
      result.notes.push_back(fmt::format(
          "{}: {} of {} are faster than in the baseline, the median by {:.1f} %: build a new one "
          "if that is meant to stay",
          table.metric, shift.faster, shift.subjects, -to_pct(shift.median)));
    } else if (static_cast<double>(shift.surely) >= kSome * static_cast<double>(shift.subjects) &&
               shift.surely >= kFleet) {
      result.notes.push_back(note_of_some(shift));
    }
  }
  for (auto& [layer, shifts] : slower) {
    Finding finding = finding_of(shifts);
    add_inventory_changes(run, baseline, names, finding);
    result.findings.push_back(std::move(finding));
  }
  return result;
}

}  // namespace fleetbench::detect
