// Where this process finds itself: in a Slurm job, beside a host file, or on a single host.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fleetbench::cli {

enum class AllocationKind { slurm, hostfile, single_host };

struct Allocation {
  AllocationKind kind = AllocationKind::single_host;
  std::string source;    // what told: "SLURM_JOB_ID=17", "the file hosts"
  std::string hostfile;  // path, for hostfile
  int nodes = 1;
};

// `variable` looks up an environment variable, `file` reads a file; empty where there is none.
using Lookup = std::function<std::optional<std::string>(const std::string&)>;

// A host file named by the user comes first, then Slurm, then the files that PBS and LSF name.
Allocation find_allocation(const std::string& hostfile, const Lookup& variable, const Lookup& file);

// How many hosts a host file names: lines that are neither blank nor comments, each host once.
int count_hosts(const std::string& text);

// The command that measures this allocation.
std::string launch_line(const Allocation& allocation, bool as_root, int cores);

}  // namespace fleetbench::cli
