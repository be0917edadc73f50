// Who of a job is still there, and who is fit to be measured.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/fleet/observers.hpp"
#include "harness/plan/slots.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::fleet {

// What was going on when somebody dropped out.
struct Moment {
  std::optional<int> slot;
  std::string step;
  std::string phase;
};

// Each change is recorded and told. Nodes are positions in `nodes`.
class Attendance {
 public:
  Attendance(const std::vector<NodeInfo>& nodes, RecordSink& sink, Progress& progress);

  // A rank is lost, and with it its node.
  void lose(int rank, const Moment& moment, const std::string& reason);
  // A node never came up.
  void miss(int node, const std::string& reason);
  // Nobody can be measured any more, and these ranks are asked nothing.
  void give_up(const std::vector<int>& ranks);
  // Something of a step is not measured; on one node, where that is known.
  void omit(const std::string& step, std::optional<int> node, const std::string& reason);
  // A measurement hangs in this node's MPI, which slows later ones.
  void set_stuck(int node) { stuck_[static_cast<std::size_t>(node)] = true; }

  bool has_lost() const { return !lost_ranks_.empty(); }
  bool is_lost(int rank) const { return lost_ranks_.contains(rank); }
  bool is_gone(int node) const { return gone_[static_cast<std::size_t>(node)]; }
  const std::vector<bool>& gone() const { return gone_; }
  // Who cannot take part in a step over MPI. Nodes that are stuck cannot be compared with the
  // others; where they are all that are left, they can with each other.
  std::vector<bool> unfit_for(const std::string& step);

  std::vector<int> ranks() const;  // that are not lost
  const std::string& name_of_rank(int rank) const { return name(node_of_rank_.at(rank)); }
  const std::string& name(int node) const { return nodes_[static_cast<std::size_t>(node)].name; }
  std::vector<std::string> names_of(const plan::Party& party) const;

 private:
  const std::vector<NodeInfo>& nodes_;
  RecordSink& sink_;
  Progress& progress_;
  std::map<int, int> node_of_rank_;
  std::set<int> lost_ranks_;
  std::vector<bool> gone_;               // by node
  std::vector<bool> stuck_;              // by node
  std::set<std::string> told_of_stuck_;  // steps
};

}  // namespace fleetbench::fleet
