// Which switches join the nodes of a cluster, in the syntax of Slurm's topology.conf.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/record/imported_samples.hpp"
#include "results-schema/topology.hpp"

namespace fleetbench::record {

struct TopologyFile {
  Topology topology;                              // as far as there is no error
  std::map<std::string, std::string> link_speed;  // of the switches that have one
  std::map<std::string, int> levels;  // 0: a leaf; else one more than the highest below it
  std::vector<Problem> errors;
};

// SwitchName, Nodes, Switches and LinkSpeed, in any case and order; comments and lines that go on
// after a backslash as in Slurm's own files. Reading goes on after an error.
TopologyFile read_topology(const SourceText& source);

}  // namespace fleetbench::record
