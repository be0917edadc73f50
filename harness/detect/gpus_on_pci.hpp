// GPUs that a node's PCI tree shows and CUDA does not.
#pragma once

#include <string>
#include <vector>

#include "results-schema/report.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::detect {

// What hides some of the node's GPUs from the run, on purpose; empty where nothing does.
std::string hidden_by(const NodeInfo& node);
inline bool hides_gpus(const NodeInfo& node) { return !hidden_by(node).empty(); }

struct GpusOnPci {
  std::vector<Finding> missing;     // nobody hides them: a fault, whatever the other nodes have
  std::vector<NotMeasured> hidden;  // from this run, on purpose
  std::vector<std::string> gaps;    // steps on them were asked for, and nothing here measures GPUs
};

// Of nodes whose inventory says what CUDA shows ("cuda": steps on GPUs were asked for). A GPU that
// other nodes know by a label is called so, else by its PCI address; of a node of which CUDA shows
// none, the node is missing. Where the run left out its steps on GPUs, there is only the PCI tree,
// which makes them a gap.
GpusOnPci gpus_on_pci(const RunData& run);

// Adds findings to those that are there: about a subject that is missing already
// only what they know of it.
void join_missing(std::vector<Finding> missing, std::vector<Finding>& findings);

}  // namespace fleetbench::detect
