// The file systems that a node has mounted.
#pragma once

#include <string_view>

#include "probes/support/fact.hpp"
#include "probes/support/mountinfo.hpp"

namespace fleetbench {

inline constexpr std::size_t kMaxMounts = 64;

// From the text of /proc/self/mountinfo: mount_point, fs_type, source, options, in the order of
// mounting; of several on one mount point the topmost. Left out: file systems that hold no data
// (proc, sysfs, cgroup …), memory used by the system under /run, /sys and /dev (but /dev/shm
// counts), and the layers of containers other than the root. Values of options that may be secrets,
// and a name and password in a URL, are replaced by "…". Nothing is asked of the file systems
// themselves: one whose server is gone would hang.
FactList mount_facts(std::string_view mountinfo);

// One of them in that form.
Json mount_fact(const MountEntry& mount);

}  // namespace fleetbench
