#include "harness/detect/baseline_levels.hpp"

#include <cmath>
#include <utility>

#include "harness/detect/cohorts.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestToDrift = 3;  // of fewer, the median pass is one subject's own noise

using Who = std::pair<int, std::string>;                          // node, device
using Cells = std::map<Who, std::map<int, std::vector<double>>>;  // subject → pass → values

bool is_kept(const StepRecord& step, const MetricInfo& metric) {
  const bool own = metric.subject == SubjectKind::node || metric.subject == SubjectKind::device;
  return own && metric.judged && !metric.covariate && !step.of_group;
}

void collect(const StepRecord& step, const SampleRecord& sample, std::vector<Cells>& cells) {
  for (std::size_t m = 0; m < step.metrics.size() && m < sample.values.size(); ++m) {
    const MetricInfo& metric = step.metrics[m];
    const auto& value = sample.values[m];
    if (is_kept(step, metric) && value && std::isfinite(*value) && *value > 0) {
      const double x = metric.better == Better::lower ? std::log(*value) : -std::log(*value);
      cells[m][{sample.node, sample.device}][sample.pass].push_back(x);
    }
  }
}

// By step, by metric.
std::vector<std::vector<Cells>> cells_of(const RunData& run,
                                         const std::set<std::string>& excluded) {
  std::vector<std::vector<Cells>> cells;
  for (const StepRecord& step : run.steps) {
    cells.emplace_back(step.metrics.size());
  }
  for (const SampleRecord& sample : run.samples) {
    const bool healthy = !excluded.contains(run.header.nodes.at(sample.node).name);
    if (healthy && sample.status == Status::ok && !sample.peer && !sample.confirms) {
      collect(run.steps.at(sample.step), sample, cells.at(sample.step));
    }
  }
  return cells;
}

double level_of(const Passes& x) {
  std::vector<double> present;
  for (const auto& value : x) {
    if (value) {
      present.push_back(*value);
    }
  }
  return median(std::move(present));
}

// What all subjects share in a pass, each measured against its own level, so that it does not
// matter who is absent.
void remove_drift(std::vector<SubjectLevel>& subjects) {
  for (std::size_t pass = 0; !subjects.empty() && pass < subjects.front().x.size(); ++pass) {
    std::vector<double> shifts;
    for (const SubjectLevel& subject : subjects) {
      if (subject.x[pass]) {
        shifts.push_back(*subject.x[pass] - subject.level);
      }
    }
    if (shifts.size() < kFewestToDrift) {
      continue;
    }
    const double drift = median(std::move(shifts));
    for (SubjectLevel& subject : subjects) {
      if (subject.x[pass]) {
        *subject.x[pass] -= drift;
      }
    }
  }
  for (SubjectLevel& subject : subjects) {
    subject.level = level_of(subject.x);
  }
}

std::vector<SubjectLevel> subjects_of(const Cells& cells, const RunData& run,
                                      const std::vector<std::string>& cohorts) {
  std::set<int> passes;
  for (const auto& [who, by_pass] : cells) {
    for (const auto& [pass, values] : by_pass) {
      passes.insert(pass);
    }
  }
  std::vector<SubjectLevel> subjects;
  for (const auto& [who, by_pass] : cells) {
    SubjectLevel subject;
    subject.node = run.header.nodes.at(who.first).name;
    subject.device = who.second;
    subject.cohort = cohorts.at(who.first);
    for (const int pass : passes) {
      const auto found = by_pass.find(pass);
      subject.x.push_back(found == by_pass.end() ? std::nullopt
                                                 : std::optional(median(found->second)));
    }
    subject.level = level_of(subject.x);
    subjects.push_back(std::move(subject));
  }
  remove_drift(subjects);
  return subjects;
}

}  // namespace

std::map<BaselineKey, MetricLevels> levels_of(const RunData& run,
                                              const std::set<std::string>& excluded) {
  const auto cells = cells_of(run, excluded);
  const std::vector<std::string> cohorts = cohorts_of(run.header.nodes);
  std::map<BaselineKey, MetricLevels> levels;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    for (std::size_t m = 0; m < cells[i].size(); ++m) {
      if (!cells[i][m].empty()) {
        const MetricInfo& metric = run.steps[i].metrics[m];
        levels[key_of(run, run.steps[i], metric)] = {metric,
                                                     subjects_of(cells[i][m], run, cohorts)};
      }
    }
  }
  return levels;
}

double baseline_value(double x, Better better) {
  return std::exp(better == Better::lower ? x : -x);
}

}  // namespace fleetbench::detect
