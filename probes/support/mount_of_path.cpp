#include "probes/support/mount_of_path.hpp"

#include <algorithm>

namespace fleetbench {
namespace {

bool holds(std::string_view mount_point, std::string_view path) {
  return mount_point == "/" || path == mount_point ||
         (path.starts_with(mount_point) && path[mount_point.size()] == '/');
}

const MountEntry* root_of(const std::vector<MountEntry>& mounts) {
  for (const MountEntry& mount : mounts) {
    const bool stands_on_another =
        mount.id < 0 || std::any_of(mounts.begin(), mounts.end(), [&](const MountEntry& other) {
          return other.id == mount.parent && other.id != mount.id;
        });
    if (mount.mount_point == "/" && !stands_on_another) {
      return &mount;
    }
  }
  return nullptr;
}

// The mount on `below` that one meets first on the way to `path`.
const MountEntry* next_on_the_way(const std::vector<MountEntry>& mounts, const MountEntry& below,
                                  std::string_view path) {
  const MountEntry* next = nullptr;
  for (const MountEntry& mount : mounts) {
    if (mount.parent == below.id && mount.id != below.id && holds(mount.mount_point, path) &&
        (next == nullptr || mount.mount_point.size() < next->mount_point.size())) {
      next = &mount;
    }
  }
  return next;
}

const MountEntry* longest(const std::vector<MountEntry>& mounts, std::string_view path) {
  const MountEntry* found = nullptr;
  for (const MountEntry& mount : mounts) {
    if (holds(mount.mount_point, path) &&
        (found == nullptr || mount.mount_point.size() >= found->mount_point.size())) {
      found = &mount;
    }
  }
  return found;
}

}  // namespace

std::optional<MountEntry> mount_of_path(const std::vector<MountEntry>& mounts,
                                        std::string_view path) {
  const MountEntry* current = root_of(mounts);
  if (current == nullptr) {
    current = longest(mounts, path);
    return current != nullptr ? std::optional(*current) : std::nullopt;
  }
  // As many steps as there are mounts: a table with a ring in it ends too.
  for (std::size_t step = 0; step < mounts.size(); ++step) {
    const MountEntry* next = next_on_the_way(mounts, *current, path);
    if (next == nullptr) {
      break;
    }
    current = next;
  }
  return *current;
}

}  // namespace fleetbench
