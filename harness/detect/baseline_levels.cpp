#include "harness/detect/baseline_levels.hpp"

#include "harness/detect/reduce.hpp"

namespace fleetbench::detect {
namespace {

// Steps whose samples are of pairs: what a node measured there depends on its partner.
std::set<int> steps_of_pairs(const RunData& run) {
  std::set<int> steps;
  for (const SampleRecord& sample : run.samples) {
    if (sample.peer) {
      steps.insert(sample.step);
    }
  }
  return steps;
}

bool is_kept(const StepRecord& step, const Table& table) {
  return table.role == Role::own && !table.of_groups() && !table.info.covariate && !step.of_group;
}

MetricLevels levels_of(const Table& table, const Names& names,
                       const std::set<std::string>& excluded) {
  MetricLevels levels{table.info, {}};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row& row = table.rows[i];
    const std::string& node = names.nodes[row.node];
    if (!excluded.contains(node)) {
      const auto x = table.values(i);
      levels.subjects.push_back({node,
                                 row.device >= 0 ? names.devices[row.device] : "",
                                 names.cohort_names[names.cohorts[row.node]],
                                 {x.begin(), x.end()},
                                 level(x)});
    }
  }
  return levels;
}

}  // namespace

std::map<BaselineKey, MetricLevels> levels_of(const RunData& run,
                                              const std::set<std::string>& excluded) {
  const Reduced reduced = reduce(run);
  const std::set<int> of_pairs = steps_of_pairs(run);
  std::map<BaselineKey, MetricLevels> result;
  for (const Table& table : reduced.tables) {
    const StepRecord& step = run.steps.at(table.step);
    if (!is_kept(step, table) || of_pairs.contains(table.step)) {
      continue;
    }
    MetricLevels levels = levels_of(table, reduced.names, excluded);
    if (!levels.subjects.empty()) {
      result[key_of(run, step, table.info)] = std::move(levels);
    }
  }
  return result;
}

}  // namespace fleetbench::detect
