#include "harness/cli/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "results-schema/check.hpp"

namespace fleetbench::cli {

int count_hosts(const std::string& text) {
  std::set<std::string> hosts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host;
    if (words >> host) {
      hosts.insert(host.substr(0, host.find(':')));
    }
  }
  return static_cast<int>(hosts.size());
}

Allocation find_allocation(const std::string& hostfile, const Lookup& variable,
                           const Lookup& file) {
  if (!hostfile.empty()) {
    const auto text = file(hostfile);
    if (!text || count_hosts(*text) == 0) {
      throw InputError(
          fmt::format("--hostfile {}: {}", hostfile, text ? "names no host" : "cannot be read"));
    }
    return {AllocationKind::hostfile, "the file " + hostfile, hostfile, count_hosts(*text)};
  }
  if (const auto job = variable("SLURM_JOB_ID")) {
    const auto nodes = variable("SLURM_JOB_NUM_NODES").value_or("1");
    return {AllocationKind::slurm, "SLURM_JOB_ID=" + *job, "",
            std::max(1, std::atoi(nodes.c_str()))};
  }
  for (const char* name : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"}) {
    const auto path = variable(name);
    const auto text = path ? file(*path) : std::nullopt;
    if (text && count_hosts(*text) > 0) {
      return {AllocationKind::hostfile, fmt::format("{}={}", name, *path), *path,
              count_hosts(*text)};
    }
  }
  return {AllocationKind::single_host, "no Slurm job and no host file", "", 1};
}

std::string launch_line(const Allocation& allocation, bool as_root, int cores) {
  const std::string root = as_root ? " --allow-run-as-root" : "";
  switch (allocation.kind) {
    case AllocationKind::slurm:
      return fmt::format("srun --mpi=pmix -K -N {} --ntasks-per-node=1 fleetbench --suite quick",
                         allocation.nodes);
    case AllocationKind::hostfile:
      return fmt::format(
          "mpirun{} -np {} --map-by ppr:1:node --hostfile {} fleetbench --suite quick", root,
          allocation.nodes, allocation.hostfile);
    case AllocationKind::single_host:
      return fmt::format("mpirun{} -np {} --oversubscribe fleetbench --suite quick --nodes-by rank",
                         root, std::max(4, cores));
  }
  return "";
}

}  // namespace fleetbench::cli
