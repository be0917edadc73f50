#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "harness/detect/again.hpp"
#include "harness/detect/attempts.hpp"
#include "harness/detect/cohorts.hpp"
#include "harness/detect/confirm.hpp"
#include "harness/detect/figure.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench {
namespace {

using namespace detect;

constexpr const char* kNobody = "there is no sound peer to measure beside it";
constexpr const char* kNotLevel =
    "what makes it a finding is not that it is slower than its peers in the median";
constexpr double kShareInLevel = 0.5;

bool in_main_passes(const SampleRecord& sample) { return !sample.confirms; }

bool may_be_confirmed(const Finding& finding) {
  return finding.direction == Direction::slow && !finding.explained_by &&
         (finding.status == FindingStatus::suspect || finding.status == FindingStatus::tentative);
}

// One that a fault was found on is no measure for others.
bool is_bad(const Finding& finding) {
  return finding.direction != Direction::fast && finding.status != FindingStatus::not_reproduced;
}

std::set<std::pair<int, int>> bad_links(const RunData& run, const Report& report) {
  std::set<std::pair<int, int>> links;
  for (const Finding& finding : report.findings) {
    const auto target = target_of(run, finding.subject);
    if (target && target->peer && is_bad(finding)) {
      links.insert(std::minmax(target->node, *target->peer));
    }
  }
  return links;
}

// Who could stand beside the suspect, with its level over the passes.
struct Candidate {
  double level = 0;
  Target target;
};

class References {
 public:
  References(const RunData& run, const Report& report) : run_(run) {
    const auto sound = sound_nodes(run, report);
    sound_.insert(sound.begin(), sound.end());
    bad_links_ = bad_links(run, report);
    cohorts_ = cohorts_of(run.header.nodes);
  }

  // The candidate whose level is the median; of two the slower one.
  std::optional<Candidate> beside(const Figure& figure, const Target& suspect) const {
    auto candidates = suspect.peer ? links(figure, suspect) : nodes(figure, suspect);
    if (candidates.empty()) {
      return std::nullopt;
    }
    std::ranges::stable_sort(candidates, {}, &Candidate::level);
    return candidates[candidates.size() / 2];
  }

 private:
  bool may_stand_for(int node, int suspect) const {
    return sound_.contains(node) && cohorts_[node] == cohorts_[suspect];
  }

  std::vector<Candidate> nodes(const Figure& figure, const Target& suspect) const {
    std::vector<Candidate> candidates;
    for (const int node : sound_) {
      const Target target{node, std::nullopt, suspect.device, false};
      if (node == suspect.node || !may_stand_for(node, suspect.node)) {
        continue;
      }
      if (const auto level = level_of(run_, figure, target, in_main_passes)) {
        candidates.push_back({*level, target});
      }
    }
    return candidates;
  }

  std::vector<Candidate> links(const Figure& figure, const Target& suspect) const {
    std::map<std::pair<int, int>, std::vector<double>> levels;
    const MetricInfo& metric = run_.steps.at(figure.step).metrics.at(figure.metric);
    for (const SampleRecord& sample : run_.samples) {
      if (sample.step != figure.step || !sample.peer || !in_main_passes(sample) ||
          sample.status != Status::ok || !sample.values.at(figure.metric) ||
          !is_on_rail(sample, suspect.device)) {
        continue;
      }
      const std::pair<int, int> ends(sample.node, *sample.peer);
      const std::pair<int, int> both = std::minmax(ends.first, ends.second);
      const double value = *sample.values[figure.metric];
      if (!bad_links_.contains(both) && value > 0 && may_stand_for(ends.first, suspect.node) &&
          may_stand_for(ends.second, *suspect.peer)) {
        levels[suspect.directed && !metric.symmetric ? ends : both].push_back(
            to_x(value, metric.better));
      }
    }
    std::vector<Candidate> candidates;
    for (const auto& [ends, of_link] : levels) {
      candidates.push_back(
          {median(of_link), {ends.first, ends.second, suspect.device, suspect.directed}});
    }
    return candidates;
  }

  static bool is_on_rail(const SampleRecord& sample, const std::string& device) {
    return device.empty() ||
           (carried_by(sample, sample.node, device) && carried_by(sample, *sample.peer, device));
  }

  const RunData& run_;
  std::set<int> sound_;
  std::set<std::pair<int, int>> bad_links_;
  std::vector<std::string> cohorts_;  // of each node
};

// Whether the suspect's level says what the finding does. Not where passes vary, or where a subject
// is compared with its own past: measured beside another that would look like a recovery.
bool shows_in_level(const RunData& run, const Figure& figure, const Target& suspect,
                    const Candidate& reference, double slowdown_pct) {
  const auto level = level_of(run, figure, suspect, in_main_passes);
  return suspect.peer ||
         (level && *level - reference.level >= kShareInLevel * slowdown_of_pct(slowdown_pct));
}

ConfirmRecord record_of(const RunData& run, const Figure& figure, const MetricEvidence& metric,
                        const Target& suspect, const std::optional<Candidate>& reference) {
  const Target& beside = reference ? reference->target : suspect;
  ConfirmRecord record;
  record.step = figure.step;
  record.compared.push_back(
      {suspect.node, suspect.peer, suspect.device, beside.node, beside.peer, metric.metric});
  if (!reference) {
    record.reason = kNobody;
  } else if (!shows_in_level(run, figure, suspect, *reference, metric.slowdown_pct)) {
    record.reason = kNotLevel;
  } else {
    record.pairs = kPairs;
  }
  return record;
}

// Fewer make one pair at a time, and nothing is under way beside it.
constexpr std::size_t kFewestToCrowd = 4;

// Of a link that was as slow again while others measured.
std::optional<ConfirmRecord> solo_of(const RunData& run, const Finding& finding,
                                     const Target& suspect) {
  const auto again = find_again(run, finding, suspect);
  if (!suspect.peer || finding.direction != Direction::slow ||
      finding.status != FindingStatus::confirmed || !again ||
      !run.steps.at(again->record->step).concurrent || run.header.nodes.size() < kFewestToCrowd ||
      find_solo(run, finding, suspect)) {
    return std::nullopt;
  }
  ConfirmRecord record = *again->record;
  record.compared = {*again->compared};
  record.solo = true;
  return record;
}

bool is_lost(const std::set<int>& lost, const Target& target) {
  return lost.contains(target.node) || (target.peer && lost.contains(*target.peer));
}

}  // namespace

std::vector<int> sound_nodes(const RunData& run, const Report& report) {
  std::set<int> bad = lost_nodes(run);
  for (const Finding& finding : report.findings) {
    const auto target = target_of(run, finding.subject);
    if (target && !target->peer && is_bad(finding)) {
      bad.insert(target->node);
    }
  }
  std::vector<int> sound;
  for (const NodeInfo& node : run.header.nodes) {
    if (!bad.contains(node.index)) {
      sound.push_back(node.index);
    }
  }
  return sound;
}

std::vector<ConfirmRecord> suspects_to_confirm(const RunData& run, const Report& report) {
  const References references(run, report);
  const std::set<int> lost = lost_nodes(run);
  std::vector<ConfirmRecord> records;
  std::vector<ConfirmRecord> alone;
  for (const Finding& finding : report.findings) {
    const auto suspect = target_of(run, finding.subject);
    if (!suspect || is_lost(lost, *suspect)) {
      continue;
    }
    if (auto solo = solo_of(run, finding, *suspect)) {
      alone.push_back(std::move(*solo));
    }
    const MetricEvidence* metric = deciding_metric(finding);
    if (!may_be_confirmed(finding) || metric == nullptr || find_again(run, finding, *suspect)) {
      continue;
    }
    if (const auto figure = figure_named(run, metric->metric, finding.subject.kind)) {
      records.push_back(
          record_of(run, *figure, *metric, *suspect, references.beside(*figure, *suspect)));
    }
  }
  records.insert(records.end(), alone.begin(), alone.end());
  return records;
}

}  // namespace fleetbench
