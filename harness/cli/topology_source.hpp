// Which switches join the nodes: what --topology names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cli/options.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::cli {

// --topology, as every command that judges has it.
Option topology_option();

// Throws InputError with every fault of the file, each with its line.
Topology read_topology_file(const std::string& path);

// Keeps in the header what of `topology` is about its nodes. Returns what a person should know:
// that `path` names other nodes, or none of these.
std::vector<std::string> describe_switches(RunHeader& header, const Topology& topology,
                                           const std::string& path);

// Nodes of the run that hang on none of its switches, where it has any; empty where there are none.
std::optional<std::string> nodes_without_switch(const RunHeader& header);

}  // namespace fleetbench::cli
