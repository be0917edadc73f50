// The nodes of a run in a description of a whole cluster.
#pragma once

#include <string>
#include <vector>

#include "results-schema/topology.hpp"

namespace fleetbench::record {

struct MatchedTopology {
  Topology topology;                 // above the nodes that are meant, and with their names
  std::vector<std::string> missing;  // nodes that hang on no switch of the file
  std::size_t others = 0;            // nodes of the file that are none of those that are meant
};

// A node has the name of the file, or one whose part before the first dot is the same, where no
// other has that part.
MatchedTopology match_topology(const Topology& topology, const std::vector<std::string>& nodes);

}  // namespace fleetbench::record
