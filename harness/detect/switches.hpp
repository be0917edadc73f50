// The switches between the nodes of a run, as its topology describes them.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/table.hpp"
#include "results-schema/topology.hpp"

namespace fleetbench::detect {

class Switches {
 public:
  // `names` are those of the run's nodes. Nodes that the topology does not name hang on nothing.
  Switches(const Topology& topology, const std::vector<std::string>& names);

  bool known() const { return !below_.empty(); }
  // Those under which some and not all of the nodes hang, with these nodes.
  std::vector<Component> components() const;
  int leaf_of(int node) const { return leaf_[node]; }  // -1: not known
  const std::vector<std::string>& leaf_names() const { return leaf_names_; }
  // How many switches up two nodes have one in common: 0 where they hang on the same leaf. Pairs of
  // one distance take the same kind of path. -1: not known.
  int distance(int a, int b) const;

 private:
  struct Below {
    std::string name;
    std::vector<bool> nodes;
  };
  std::vector<Below> below_;
  std::vector<int> leaf_;
  std::vector<std::string> leaf_names_;
  std::vector<std::vector<int>> distances_;  // of leaves
};

}  // namespace fleetbench::detect
