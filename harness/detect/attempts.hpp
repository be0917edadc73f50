// Who was asked to measure what, and how that went: the samples of a run by step and subject.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "harness/detect/reduce.hpp"

namespace fleetbench::detect {

// A node (second is -1) or an unordered pair of nodes.
using Who = std::pair<int, int>;

Who who_of(int node, std::optional<int> peer);

struct StepAttempts {
  const StepRecord* step = nullptr;
  bool pairs = false;
  bool group = false;                            // all nodes together, or in groups
  std::map<int, std::set<std::string>> devices;  // that each node was asked of
  std::map<Who, std::set<int>> passes;           // asked, see occasion_of()
  std::map<Who, std::set<int>> good;             // gave values
  std::map<Who, std::vector<const Trouble*>> wrong;
  std::map<Who, std::vector<const Trouble*>> broken;  // failed or timed out
  std::map<Who, std::vector<const Trouble*>> skipped;

  Layer layer() const { return step->metrics.empty() ? Layer::host : step->metrics[0].layer; }
  std::size_t participants() const;  // nodes that were asked, alone or in a pair
};

// One entry per step of the run. Troubles whose node or peer is in `lost` are left out unless
// they are wrong results: the loss says it all. So are time-outs of those who waited for a
// member of their group that failed or was lost at the time. `run` and `troubles` must outlive the
// result.
std::vector<StepAttempts> attempts_of(const RunData& run, const std::vector<Trouble>& troubles,
                                      const std::set<int>& lost);

std::set<int> lost_nodes(const RunData& run);

}  // namespace fleetbench::detect
