// What Linux says about the CPUs of a node.
#pragma once

#include "probes/support/fact.hpp"
#include "probes/support/host_files.hpp"

namespace fleetbench {

// model, microcode, flags (those that decide which kernels a library picks), sockets, cores,
// threads, smt, cpus_online and cpuset_cpus as lists ("0-3,8") with their counts, frequencies in
// Hz, governors. `cpuset_cpus` is where this process may run (its cpuset and its affinity), so a
// worker widens its affinity first; `cpu_quota_cores` is the argument.
Json cpu_facts(const HostFiles& files, std::optional<double> cpu_quota_cores);

}  // namespace fleetbench
