// Which of the mounts a path is on.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "probes/support/mountinfo.hpp"

namespace fleetbench {

// `path` is absolute and free of links. Follows the mounts from the root as the kernel does, so
// that what lies hidden below a later mount is not taken; where the ids do not lead anywhere (a
// chroot), the longest mount point, and of equal ones the last. Nothing where none holds the path.
// Asks nothing of the file systems.
std::optional<MountEntry> mount_of_path(const std::vector<MountEntry>& mounts,
                                        std::string_view path);

}  // namespace fleetbench
