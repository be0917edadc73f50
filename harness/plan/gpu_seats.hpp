// Which rank measures which GPU, and what the GPU is called.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::plan {

struct SeenGpu {
  std::string uuid;
  std::string pci_address;
};

struct OwnedGpu {
  std::string label;  // "gpu3"
  std::string uuid;
  std::string pci_address;
  int rank = 0;  // that measures it
};

// By node: each GPU that any of its ranks sees, once, in the order of PCI addresses, given to the
// rank that sees it and has the fewest so far. A launcher may show each rank all GPUs of the node
// or only its own; the same GPUs come of it. Numbers in labels are places in the node's list of
// addresses; where most nodes have one and the same list and a node has some of it, places in that:
// what fell off the bus leaves a gap instead of new names for the rest.
std::vector<std::vector<OwnedGpu>> seat_gpus(const std::vector<NodeInfo>& nodes,
                                             const std::map<int, std::vector<SeenGpu>>& by_rank);

// Of one node: GPUs that had a label in an earlier part of the run keep it (`labels`, by UUID); a
// new one whose label is taken gets the next number that is free.
void keep_labels(const std::map<std::string, std::string>& labels, std::vector<OwnedGpu>& gpus);

// "gpu0", "gpu1", …: what the GPUs of all nodes are called, each once.
std::vector<std::string> labels_of(const std::vector<std::vector<OwnedGpu>>& gpus);

// "8 GPUs on each"; "7 to 8 GPUs on each"; empty where there are none.
std::string describe(const std::vector<std::vector<OwnedGpu>>& gpus);

}  // namespace fleetbench::plan
