// What Linux says about the memory of a node.
#pragma once

#include "probes/support/fact.hpp"
#include "probes/support/host_files.hpp"

namespace fleetbench {

// Sizes, huge pages of each size, transparent huge pages; `memory_limit_bytes` is the argument.
Json memory_facts(const HostFiles& files, std::optional<std::int64_t> memory_limit_bytes);

// One entry per NUMA node: its CPUs, memory and distances to all nodes. Null where Linux does not
// know NUMA.
Json numa_facts(const HostFiles& files);

}  // namespace fleetbench
