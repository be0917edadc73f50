// What a folder is on: file system, mount, disk.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "probes/support/disk_stats.hpp"
#include "probes/support/host_files.hpp"
#include "probes/support/nfs_stats.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench {

struct Volume {
  std::string fs_type;  // empty where no mount holds the folder
  std::string mount_point;
  std::optional<std::string> disk;  // its name in /sys/block, where there is one
  bool shared = false;              // a network or cluster file system
  bool memory = false;
  // fs_type, mount_point, source, options, device, medium ("memory", "network", "disk" or null).
  Json facts;
};

// Writes "PROBE: at work in FOLDER (DOING)" to standard error. Where the folder's server is gone,
// the next call never returns and this process is ended: these are then its last words.
void tell_where(std::string_view probe, const std::filesystem::path& folder,
                std::string_view doing);

// Looks at `folder`, so it hangs where that does. Never throws: what cannot be found out is absent.
Volume volume_of(const HostFiles& files, const std::filesystem::path& folder);

// Throws NotAvailable, saying how to allow it, where the volume is shared and that is not
// `allowed`.
void require_permission(const Volume& volume, const std::filesystem::path& folder, bool allowed);

// Free for this user, bytes; null where the system does not say.
Json free_space(const std::filesystem::path& folder);

// Counters of its disk just now. Nothing where it has none.
std::optional<DiskCounters> disk_counters_now(const HostFiles& files, const Volume& volume);
std::optional<NfsCounters> nfs_counters_now(const HostFiles& files, const Volume& volume);

}  // namespace fleetbench
