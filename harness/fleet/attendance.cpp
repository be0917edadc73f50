#include "harness/fleet/attendance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fleetbench::fleet {

Attendance::Attendance(const std::vector<NodeInfo>& nodes, RecordSink& sink, Progress& progress)
    : nodes_(nodes),
      sink_(sink),
      progress_(progress),
      gone_(nodes.size(), false),
      stuck_(nodes.size(), false) {
  for (const auto& node : nodes_) {
    for (const int rank : node.ranks) {
      node_of_rank_[rank] = node.index;
    }
  }
}

void Attendance::lose(int rank, const Moment& moment, const std::string& reason) {
  const int node = node_of_rank_.at(rank);
  gone_[static_cast<std::size_t>(node)] = true;
  lost_ranks_.insert(rank);
  sink_.add(LossRecord{.rank = rank,
                       .node = node,
                       .slot = moment.slot,
                       .step = moment.step,
                       .phase = moment.phase,
                       .reason = reason});
  progress_.note(fmt::format("lost: rank {} on {} ({} of {}): {}", rank, name(node), moment.phase,
                             moment.step, reason));
}

void Attendance::miss(int node, const std::string& reason) {
  gone_[static_cast<std::size_t>(node)] = true;
  sink_.add(LossRecord{.rank = std::nullopt,
                       .node = node,
                       .slot = std::nullopt,
                       .step = "start",
                       .phase = "launch",
                       .reason = reason});
  progress_.note(fmt::format("{} does not take part: {}", name(node), reason));
}

void Attendance::give_up(const std::vector<int>& ranks) {
  gone_.assign(gone_.size(), true);
  lost_ranks_.insert(ranks.begin(), ranks.end());
}

void Attendance::omit(const std::string& step, std::optional<int> node, const std::string& reason) {
  sink_.add(OmissionRecord{step, node, reason});
  progress_.note(fmt::format("{}{}: {}", step, node ? " on " + name(*node) : "", reason));
}

std::vector<bool> Attendance::unfit_for(const std::string& step) {
  int free = 0;
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    free += !gone_[i] && !stuck_[i] ? 1 : 0;
    if (!gone_[i] && stuck_[i]) {
      left_out.push_back(nodes_[i].name);
    }
  }
  if (free == 0 || left_out.empty()) {
    return gone_;
  }
  if (told_of_stuck_.insert(step).second) {
    omit(step, std::nullopt,
         fmt::format("not measured any more on {}: a measurement with a node that was lost still "
                     "hangs in their MPI, and would slow this one",
                     fmt::join(left_out, ", ")));
  }
  auto unfit = gone_;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    unfit[i] = gone_[i] || stuck_[i];
  }
  return unfit;
}

std::vector<int> Attendance::ranks() const {
  std::vector<int> result;
  for (const auto& [rank, node] : node_of_rank_) {
    if (!is_lost(rank)) {
      result.push_back(rank);
    }
  }
  return result;
}

std::vector<std::string> Attendance::names_of(const plan::Party& party) const {
  std::vector<std::string> names;
  for (const int node : party) {
    names.push_back(name(node));
  }
  return names;
}

}  // namespace fleetbench::fleet
