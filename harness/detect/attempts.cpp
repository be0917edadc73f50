#include "harness/detect/attempts.hpp"

#include <algorithm>

#include "harness/detect/confirm.hpp"

namespace fleetbench::detect {
namespace {

bool is_lost(const Trouble& trouble, const std::set<int>& lost) {
  return lost.contains(trouble.node) || (trouble.peer && lost.contains(*trouble.peer));
}

void sort_in(const Trouble& trouble, const std::set<int>& lost, StepAttempts& attempts) {
  const Who who = who_of(trouble.node, trouble.peer);
  if (trouble.status == Status::wrong) {
    attempts.wrong[who].push_back(&trouble);
  } else if (is_lost(trouble, lost)) {
    return;
  } else if (trouble.status == Status::skipped) {
    attempts.skipped[who].push_back(&trouble);
  } else {
    attempts.broken[who].push_back(&trouble);
  }
}

// Where a member of a group failed by itself or was lost, the others waited for it until their time
// was up, and that is no fault of theirs.
class LetDown {
 public:
  LetDown(const RunData& run, const std::vector<Trouble>& troubles,
          const std::vector<StepAttempts>& steps)
      : steps_(steps) {
    for (const Trouble& trouble : troubles) {
      if (trouble.status == Status::failed && is_of_group(trouble)) {
        failed_.insert({trouble.slot, trouble.group});
      }
    }
    for (const LossRecord& loss : run.losses) {
      lost_.emplace(loss.slot.value_or(-1), loss.node);
    }
  }

  bool only_waited(const Trouble& trouble) const {
    return trouble.status == Status::timeout && is_of_group(trouble) &&
           (failed_.contains({trouble.slot, trouble.group}) || lost_a_member(trouble));
  }

 private:
  bool is_of_group(const Trouble& trouble) const { return steps_.at(trouble.step).group; }

  bool lost_a_member(const Trouble& trouble) const {
    return std::ranges::any_of(lost_, [&](const std::pair<int, int>& loss) {
      const auto& [slot, node] = loss;
      return slot == trouble.slot &&
             (trouble.group.empty() || std::ranges::count(trouble.group, node) > 0);
    });
  }

  const std::vector<StepAttempts>& steps_;
  std::set<std::pair<int, std::vector<int>>> failed_;  // slot and group
  std::set<std::pair<int, int>> lost_;                 // slot and node
};

bool has_value(const SampleRecord& sample) {
  return sample.status == Status::ok &&
         std::any_of(sample.values.begin(), sample.values.end(),
                     [](const auto& value) { return value.has_value(); });
}

}  // namespace

Who who_of(int node, std::optional<int> peer) {
  return peer ? Who(std::min(node, *peer), std::max(node, *peer)) : Who(node, -1);
}

std::size_t StepAttempts::participants() const {
  std::set<int> nodes;
  for (const auto& [who, asked] : passes) {
    nodes.insert(who.first);
    if (who.second >= 0) {
      nodes.insert(who.second);
    }
  }
  return nodes.size();
}

std::vector<StepAttempts> attempts_of(const RunData& run, const std::vector<Trouble>& troubles,
                                      const std::set<int>& lost) {
  std::vector<StepAttempts> result(run.steps.size());
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    result[i].step = &run.steps[i];
    const StepRecord& step = run.steps[i];
    result[i].group =
        step.of_group || (!step.metrics.empty() && step.metrics[0].subject == SubjectKind::group);
  }
  for (const SampleRecord& sample : run.samples) {
    StepAttempts& attempts = result.at(sample.step);
    const Who who = who_of(sample.node, sample.peer);
    attempts.pairs = attempts.pairs || sample.peer.has_value();
    attempts.passes[who].insert(occasion_of(sample));
    if (!sample.device.empty()) {
      attempts.devices[sample.node].insert(sample.device);
    }
    if (has_value(sample)) {
      attempts.good[who].insert(occasion_of(sample));
    }
  }
  const LetDown let_down(run, troubles, result);
  for (const Trouble& trouble : troubles) {
    if (!let_down.only_waited(trouble)) {
      sort_in(trouble, lost, result.at(trouble.step));
    }
  }
  return result;
}

std::set<int> lost_nodes(const RunData& run) {
  std::set<int> nodes;
  for (const LossRecord& loss : run.losses) {
    nodes.insert(loss.node);
  }
  return nodes;
}

}  // namespace fleetbench::detect
