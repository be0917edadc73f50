// Which ranks make up which node.
#pragma once

#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::plan {

// What a rank says of itself when the run begins.
struct RankInfo {
  int rank = 0;
  std::string host;
  std::string boot_id;
  bool answered = true;  // false: it never reported, and host and boot id are unknown
};

enum class NodesBy { host, rank };

// Groups ranks into nodes by host name and boot id: two hosts that share a name stay apart, the
// second one as "NAME#2". By rank each rank is a node, "HOST:RANK". A rank that never answered is
// a node of its own, "rank N". Nodes are in the order of their first ranks, so node 0 holds the
// lowest rank.
std::vector<NodeInfo> make_nodes(const std::vector<RankInfo>& ranks, NodesBy by);

// The name of the node that stands for a rank that never answered: "rank 5".
std::string name_of_silent_rank(int rank);

// "64 ranks on 8 nodes, 8 on each"
std::string describe(const std::vector<NodeInfo>& nodes);

}  // namespace fleetbench::plan
