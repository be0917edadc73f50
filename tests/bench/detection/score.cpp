#include "tests/bench/detection/score.hpp"

#include <algorithm>
#include <cmath>

#include "tests/bench/detection/oracle.hpp"

namespace fleetbench::bench {
namespace {

using simulation::Fleet;
using simulation::Group;
using simulation::TrueFault;

bool is_alarm(const Finding& finding) {
  return finding.status == FindingStatus::suspect || finding.status == FindingStatus::confirmed;
}

// On the node and in the layer of the fault; a wrong or missing part is looked for in any layer.
bool concerns(const Finding& finding, const TrueFault& fault) {
  return finding.direction == fault.direction && finding.subject.node == fault.subject.node &&
         (finding.subject.kind == "fleet") == (fault.subject.kind == "fleet") &&
         (finding.layer == fault.layer || fault.direction != Direction::slow);
}

bool concerns_any(const Finding& finding, const Fleet& fleet) {
  return std::ranges::any_of(
      fleet.faults, [&finding](const TrueFault& fault) { return concerns(finding, fault); });
}

const Group& group_of(const Fleet& fleet, Layer layer) {
  return *std::ranges::find(fleet.groups, layer, &Group::layer);
}

std::size_t metric_position(const Fleet& fleet, const std::string& name) {
  std::size_t position = 0;
  while (metric_name(fleet, position) != name) {
    ++position;
  }
  return position;
}

// Subjects of the group that a fault is about: first, and how many.
std::pair<int, int> subjects_of(const Fleet& fleet, const TrueFault& fault, const Group& group) {
  const int each = fleet.per_node(group);
  for (int i = 0; i < fleet.subjects(group); ++i) {
    const Subject subject = subject_of(fleet, group, i);
    if (subject == fault.subject) {
      return {i, 1};
    }
    if (fault.subject.kind == "node" && subject.node == fault.subject.node) {
      return {i, each};
    }
  }
  return {0, 0};
}

// How far one metric of the subjects really is from the median of all.
double true_distance(const Fleet& fleet, std::size_t metric, std::pair<int, int> subjects) {
  double sum = 0;
  for (int i = 0; i < subjects.second; ++i) {
    sum += fleet.levels[metric][subjects.first + i];
  }
  return sum / subjects.second - median_of(fleet.levels[metric]);
}

// The slowdown that an interval is about, in per cent: the metrics of the fault, the more certain
// ones weighing more.
double true_level_pct(const Fleet& fleet, const TrueFault& fault) {
  const Group& group = group_of(fleet, fault.layer);
  const auto subjects = subjects_of(fleet, fault, group);
  double distance = 0;
  if (fault.metrics.size() == 1) {
    distance = true_distance(fleet, metric_position(fleet, fault.metrics.front()), subjects);
  } else {
    const auto weights = precision_weights(fleet, group);
    for (std::size_t i = 0; i < group.count; ++i) {
      distance += weights[i] * true_distance(fleet, group.first + i, subjects);
    }
  }
  return 100 * std::expm1(distance);
}

void check_interval(const Fleet& fleet, const TrueFault& fault, const Finding& finding,
                    Score& score) {
  const auto covers = [&finding](double pct) {
    return finding.ci_low_pct <= pct && pct <= finding.ci_high_pct;
  };
  // The families whose level changes over the passes have no present level.
  if (fault.direction != Direction::slow || fault.subject.kind == "fleet" ||
      fleet.spec.fault == simulation::Fault::unseen) {
    return;
  }
  score.intervals += 1;
  score.cover_level += covers(true_level_pct(fleet, fault)) ? 1 : 0;
  score.cover_effect += covers(100 * fault.effect) ? 1 : 0;
}

void look_for(const Fleet& fleet, const TrueFault& fault, const Report& report, Score& score) {
  const Finding* found = nullptr;
  for (const Finding& finding : report.findings) {
    if (is_alarm(finding) && concerns(finding, fault)) {
      const bool exact = finding.subject == fault.subject;
      if (found == nullptr || exact) {
        found = &finding;
      }
    }
  }
  score.faults += 1;
  if (found != nullptr) {
    score.found += 1;
    score.named += found->subject == fault.subject ? 1 : 0;
    check_interval(fleet, fault, *found, score);
  }
}

void look_at_top(const Fleet& fleet, const Report& report, Score& score) {
  for (const Finding& finding : report.findings) {
    if (finding.direction == Direction::slow && score.top < std::ssize(fleet.faults)) {
      score.top += 1;
      score.top_true += concerns_any(finding, fleet) ? 1 : 0;
    }
  }
}

}  // namespace

Score score(const Fleet& fleet, const Report& report) {
  Score score;
  for (const TrueFault& fault : fleet.faults) {
    look_for(fleet, fault, report, score);
  }
  for (const Finding& finding : report.findings) {
    const bool concerned = concerns_any(finding, fleet);
    if (finding.direction == Direction::slow && is_alarm(finding)) {
      score.alarms += 1;
      score.false_alarms += concerned ? 0 : 1;
    }
    score.other_kind =
        score.other_kind || (!concerned && (finding.direction == Direction::wrong ||
                                            finding.direction == Direction::missing));
  }
  look_at_top(fleet, report, score);
  return score;
}

}  // namespace fleetbench::bench
