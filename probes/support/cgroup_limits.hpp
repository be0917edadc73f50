// The limits that control groups, version 1 or 2, put on this process.
#pragma once

#include <cstdint>
#include <optional>

#include "probes/support/host_files.hpp"

namespace fleetbench {

// `nullopt`: no limit that can be seen.
struct CgroupLimits {
  std::optional<double> cpu_quota_cores;  // 0.5 is half a core's time
  std::optional<std::int64_t> memory_bytes;
};

// The smallest limit on the way from the group of the process up to where the hierarchy is mounted:
// a group is held to the limits of all its ancestors. In a container the groups above the mount
// cannot be seen.
CgroupLimits cgroup_limits(const HostFiles& files);

// In how many periods processes of this group, or of one above it, were made to wait because their
// CPU quota was used up: the largest count on the way up. `nullopt` where nothing counts them.
std::optional<std::int64_t> cgroup_throttles(const HostFiles& files);

}  // namespace fleetbench
