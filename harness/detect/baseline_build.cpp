#include "harness/detect/baseline_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "harness/detect/baseline_inventory.hpp"
#include "harness/detect/baseline_levels.hpp"
#include "harness/detect/cohorts.hpp"
#include "harness/detect/robust.hpp"
#include "harness/detect/table.hpp"
#include "harness/detect/tails.hpp"
#include "results-schema/check.hpp"

namespace fleetbench {
namespace {

using namespace detect;

// A tail fitted to fewer scores is what was assumed before seeing any.
constexpr std::size_t kFewestForTail = 12;
constexpr double kFarOut = 8;  // what lies beyond is no tail but another population

struct LevelInRun {
  std::size_t run = 0;  // by time
  SubjectLevel subject;
};

struct History {
  MetricInfo info;
  std::string of_run;  // that `info` is from
  std::map<std::string, std::vector<LevelInRun>> cohorts;
};

using Who = std::pair<std::string, std::string>;  // node, device
using ByWho = std::map<Who, std::vector<const LevelInRun*>>;

std::string reason_of(const Finding& finding) {
  const std::string amount = finding.direction == Direction::slow
                                 ? ": " + describe_slowdown(finding.slowdown_pct, "its peers")
                                 : "";
  return fmt::format("{} in {}{}{} ({})", to_string(finding.direction), to_string(finding.layer),
                     finding.subject.device.empty() ? "" : ", " + finding.subject.device, amount,
                     to_string(finding.status));
}

std::vector<Doubt> doubts_of(const Report& report, const std::string& run_id) {
  std::vector<Doubt> doubts;
  for (const Finding& finding : report.findings) {
    const bool of_node = finding.subject.kind == "node" || finding.subject.kind == "device";
    if (of_node && finding.direction != Direction::fast &&
        finding.status != FindingStatus::not_reproduced) {
      doubts.push_back({run_id, finding.subject.node, reason_of(finding),
                        finding.status != FindingStatus::tentative});
    }
  }
  return doubts;
}

std::set<std::string> excluded_by(const std::vector<Doubt>& doubts) {
  std::set<std::string> nodes;
  for (const Doubt& doubt : doubts) {
    if (doubt.excluded) {
      nodes.insert(doubt.node);
    }
  }
  return nodes;
}

void require_same_metric(const BaselineKey& key, const History& history, const MetricInfo& info,
                         const std::string& run_id) {
  if (history.info.unit != info.unit || history.info.better != info.better) {
    throw InputError(fmt::format(
        "{} is in \"{}\" ({} is better) in run {} and in \"{}\" ({} is better) in run {}: build a "
        "baseline from runs that agree",
        key.metric, history.info.unit, to_string(history.info.better), history.of_run, info.unit,
        to_string(info.better), run_id));
  }
}

void remember(std::map<BaselineKey, History>& all, const RunData& run, std::size_t index,
              const std::set<std::string>& excluded) {
  for (auto& [key, levels] : levels_of(run, excluded)) {
    const auto [place, is_new] = all.try_emplace(key);
    History& history = place->second;
    if (is_new) {
      history.info = levels.info;
      history.of_run = run.header.run_id;
    }
    require_same_metric(key, history, levels.info, run.header.run_id);
    for (SubjectLevel& subject : levels.subjects) {
      const std::string cohort = subject.cohort;
      history.cohorts[cohort].push_back({index, std::move(subject)});
    }
  }
}

ByWho by_subject(const std::vector<LevelInRun>& levels) {
  ByWho result;
  for (const LevelInRun& level : levels) {
    result[{level.subject.node, level.subject.device}].push_back(&level);
  }
  return result;
}

double median_over_runs(const std::vector<const LevelInRun*>& levels) {
  std::vector<double> x;
  for (const LevelInRun* level : levels) {
    x.push_back(level->subject.level);
  }
  return median(std::move(x));
}

std::map<std::size_t, std::vector<double>> by_run(const std::vector<LevelInRun>& levels) {
  std::map<std::size_t, std::vector<double>> result;
  for (const LevelInRun& level : levels) {
    result[level.run].push_back(level.subject.level);
  }
  return result;
}

// Spread of the subjects about the median of their own run, so that a shift of all of them from run
// to run is not in it: the mean of the runs' estimates, weighted by how much each knows.
double between_of(const std::map<std::size_t, std::vector<double>>& runs) {
  double sum = 0;
  double weight = 0;
  for (const auto& [run, levels] : runs) {
    const double freedom = static_cast<double>(levels.size()) - 1;
    sum += freedom * robust_sigma(levels);
    weight += freedom;
  }
  return weight > 0 ? sum / weight : 0;
}

// Tails are fitted to scores of variance 1; the robust spread of long-tailed ones is smaller than
// their standard deviation.
double degrees_of(const std::map<std::size_t, std::vector<double>>& runs, double between) {
  std::vector<double> residuals;
  double squares = 0;
  for (const auto& [run, levels] : runs) {
    const double centre = median(levels);
    for (const double level : levels) {
      if (std::abs(level - centre) < kFarOut * between) {
        residuals.push_back(level - centre);
        squares += (level - centre) * (level - centre);
      }
    }
  }
  if (residuals.size() < kFewestForTail || squares <= 0) {
    return 0;
  }
  const double sigma = std::sqrt(squares / static_cast<double>(residuals.size()));
  for (double& residual : residuals) {
    residual /= sigma;
  }
  return tail_degrees(residuals);
}

double within_of(const std::vector<LevelInRun>& levels) {
  std::vector<std::vector<double>> passes;
  for (const LevelInRun& level : levels) {
    passes.push_back(level.subject.x);
  }
  return pass_sigma(passes).value_or(0);
}

double run_to_run_of(const ByWho& subjects) {
  std::vector<std::vector<double>> runs;
  for (const auto& [who, levels] : subjects) {
    std::vector<double>& own = runs.emplace_back();
    for (const LevelInRun* level : levels) {
      own.push_back(level->subject.level);
    }
  }
  return pass_sigma(runs).value_or(0);
}

BaselineMetric summarise(const BaselineKey& key, const std::string& cohort, const MetricInfo& info,
                         const std::vector<LevelInRun>& levels) {
  const ByWho subjects = by_subject(levels);
  const auto runs = by_run(levels);
  std::vector<double> own;
  for (const auto& [who, of_subject] : subjects) {
    own.push_back(median_over_runs(of_subject));
  }
  BaselineMetric metric;
  metric.key = key;
  metric.cohort = cohort;
  metric.unit = info.unit;
  metric.better = info.better;
  metric.layer = info.layer;
  metric.subjects = static_cast<int>(subjects.size());
  metric.runs = static_cast<int>(runs.size());
  metric.median = to_value(median(std::move(own)), info.better);
  metric.between = between_of(runs);
  metric.within = within_of(levels);
  metric.run_to_run = run_to_run_of(subjects);
  metric.degrees = degrees_of(runs, metric.between);
  return metric;
}

// Of each node and device its own level, in the cohort that it was of last.
void add_subjects(const BaselineKey& key, const History& history, Baseline& baseline) {
  std::map<Who, std::pair<std::size_t, BaselineSubject>> latest;
  for (const auto& [cohort, levels] : history.cohorts) {
    for (const auto& [who, of_subject] : by_subject(levels)) {
      const std::size_t last = of_subject.back()->run;
      const auto known = latest.find(who);
      if (known == latest.end() || known->second.first < last) {
        latest[who] = {last,
                       {key, who.first, who.second, cohort,
                        to_value(median_over_runs(of_subject), history.info.better),
                        static_cast<int>(of_subject.size())}};
      }
    }
  }
  for (auto& [who, subject] : latest) {
    baseline.subjects.push_back(std::move(subject.second));
  }
}

// By node: its cohort and inventory in the last run that it was healthy in.
using Inventories = std::map<std::string, std::pair<std::string, FlatInventory>>;

void remember(Inventories& inventories, const RunData& run, const std::set<std::string>& excluded) {
  const std::vector<std::string> cohorts = cohorts_of(run.header.nodes);
  for (std::size_t i = 0; i < run.header.nodes.size(); ++i) {
    const NodeInfo& node = run.header.nodes[i];
    if (node.inventory.is_object() && !excluded.contains(node.name)) {
      inventories[node.name] = {cohorts[i], flat_inventory(node.inventory)};
    }
  }
}

std::map<std::string, FlatInventory> majorities(const Inventories& inventories) {
  std::map<std::string, std::vector<FlatInventory>> by_cohort;
  for (const auto& [node, known] : inventories) {
    by_cohort[known.first].push_back(known.second);
  }
  std::map<std::string, FlatInventory> result;
  for (const auto& [cohort, all] : by_cohort) {
    result[cohort] = majority_inventory(all);
  }
  return result;
}

}  // namespace

BuiltBaseline build_baseline(std::vector<BaselineRun> runs, const std::string& created) {
  std::ranges::stable_sort(runs, {},
                           [](const BaselineRun& run) { return run.run->header.created; });
  BuiltBaseline built;
  built.baseline.created = created;
  std::map<BaselineKey, History> history;
  Inventories inventories;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunData& run = *runs[i].run;
    const std::vector<Doubt> doubts = doubts_of(*runs[i].report, run.header.run_id);
    const std::set<std::string> excluded = excluded_by(doubts);
    built.baseline.runs.push_back(run.header.run_id);
    built.doubts.insert(built.doubts.end(), doubts.begin(), doubts.end());
    remember(history, run, i, excluded);
    remember(inventories, run, excluded);
  }
  for (const auto& [key, of_metric] : history) {
    for (const auto& [cohort, levels] : of_metric.cohorts) {
      built.baseline.metrics.push_back(summarise(key, cohort, of_metric.info, levels));
    }
    add_subjects(key, of_metric, built.baseline);
  }
  built.baseline.inventory = majorities(inventories);
  return built;
}

}  // namespace fleetbench
