// Nodes whose inventory differs from that of the others of their cohort.
#pragma once

#include <string>
#include <vector>

#include "results-schema/report.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::detect {

struct Difference {
  int node = 0;
  std::string path;       // "cpu.cpu_quota_cores", "nics[eth0].mtu"
  std::string text;       // "cpu.cpu_quota_cores is 0.5, 3 of 4 nodes have none"
  std::size_t alike = 1;  // nodes, or GPUs, that differ in the same way, with this one
  std::string device;     // of the node, where it is a setting of one of its GPUs: "gpu2"
};

// So many are listed in a report and, of one node, at a finding.
inline constexpr std::size_t kMostDifferences = 50;
inline constexpr std::size_t kMostEvidence = 10;

// The nodes of the run, whose inventories have besides, under "probes" and the step's id, the
// "facts" that a probe told with its samples there: some are told once (as NCCL names its network
// once in a process); of those that are told again the last one counts.
std::vector<NodeInfo> with_probe_facts(const RunData& run);

// Compares every scalar of the inventories with what most nodes of the cohort have; needs three
// nodes with an inventory in it, and 60 % of them must agree. Elements of arrays are known by what
// names them (name, address, mount point …), else by position. Left out is what differs by nature:
// names, addresses, serials, what is free or in use just now, and things that only this node has
// besides. Settings of GPUs are compared among all GPUs of the cohort, see gpu_settings.hpp. A node
// that is alone in its cohort, where the rest of the fleet is one, differs from it by its hardware.
// In the order of nodes and paths; n log n in the number of nodes.
std::vector<Difference> differences(const std::vector<NodeInfo>& nodes);

// Adds what may explain a slow node to its finding: CPU and memory to `host`, NICs to `network` …
void add_as_evidence(const std::vector<Difference>& differences, const std::vector<NodeInfo>& nodes,
                     std::vector<Finding>& findings);

// What differs in the software of GPUs where nodes skip a step of this layer, which `asked` nodes
// were asked for: theirs, or where most skip it and none of them differs, the others'. Empty where
// nothing does.
std::string cause_of_skipping(const std::vector<Difference>& differences,
                              const std::vector<NodeInfo>& nodes, Layer layer,
                              const std::vector<int>& skipped, std::size_t asked);

// Into the report's list: at most kMostDifferences, the rarest where there are more, and then a
// note that says how many there are.
void list_differences(const std::vector<Difference>& differences,
                      const std::vector<NodeInfo>& nodes, Report& report);

}  // namespace fleetbench::detect
