#include "probes/support/cgroup_limits.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "probes/support/mountinfo.hpp"
#include "probes/support/text_fields.hpp"

namespace fs = std::filesystem;

namespace fleetbench {

namespace {

// Version 1 writes "no limit" as the largest number of pages, in bytes.
constexpr std::int64_t kUnlimitedBytes = std::int64_t{1} << 62;

template <typename Value>
void keep_smaller(std::optional<Value>& smallest, const std::optional<Value>& value) {
  if (value && (!smallest || *value < *smallest)) {
    smallest = value;
  }
}

bool has_option(std::string_view options, std::string_view option) {
  const std::vector<std::string_view> parts = split(options, ',');
  return std::find(parts.begin(), parts.end(), option) != parts.end();
}

// Group of this process in the hierarchy of a version 1 controller, or of version 2 for "", from
// /proc/self/cgroup: "4:cpu,cpuacct:/job/1" and "0::/job/1".
std::optional<fs::path> own_group(std::string_view memberships, std::string_view controller) {
  for (const std::string_view line : split(memberships, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool found =
        controller.empty() ? line.starts_with("0::") : has_option(controllers, controller);
    if (found) {
      return fs::path(line.substr(second + 1));
    }
  }
  return std::nullopt;
}

const MountEntry* hierarchy(const std::vector<MountEntry>& mounts, std::string_view controller) {
  for (const MountEntry& mount : mounts) {
    const bool found = controller.empty() ? mount.fs_type == "cgroup2"
                                          : mount.fs_type == "cgroup" &&
                                                has_option(mount.super_options, controller);
    if (found) {
      return &mount;
    }
  }
  return nullptr;
}

bool leads_up(const fs::path& path) {
  return std::find(path.begin(), path.end(), "..") != path.end();
}

// "/../..": what is mounted begins above this process's cgroup namespace.
bool only_leads_up(const fs::path& path) {
  const fs::path steps = path.relative_path();
  return !steps.empty() &&
         std::all_of(steps.begin(), steps.end(), [](const fs::path& step) { return step == ".."; });
}

// The folders of the group and its ancestors, as far as they are mounted: the mount may show only a
// part of the hierarchy (that below its root). None where the group is outside of that part.
std::vector<fs::path> folders(const MountEntry& mount, const fs::path& group) {
  const fs::path top = mount.mount_point;
  if (only_leads_up(mount.root) && !leads_up(group)) {
    return {top};  // the names of the folders between it and the group cannot be known
  }
  fs::path below = group.lexically_relative(mount.root);
  if (below.empty() || leads_up(below) || leads_up(group) || leads_up(mount.root)) {
    return {};
  }
  std::vector<fs::path> found;
  for (; below != "." && !below.empty(); below = below.parent_path()) {
    found.push_back(top / below);
  }
  found.push_back(top);
  return found;
}

std::vector<fs::path> own_folders(const HostFiles& files, std::string_view controller) {
  const auto mounts = parse_mountinfo(files.read_text("/proc/self/mountinfo").value_or(""));
  const auto group = own_group(files.read_text("/proc/self/cgroup").value_or(""), controller);
  const MountEntry* mount = hierarchy(mounts, controller);
  return mount && group ? folders(*mount, *group) : std::vector<fs::path>();
}

std::optional<double> cores(std::optional<std::int64_t> quota_us,
                            std::optional<std::int64_t> period_us) {
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) {  // -1: no limit
    return std::nullopt;
  }
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

std::optional<double> quota_v2(const HostFiles& files, const fs::path& folder) {
  const std::string line = files.read_line(folder / "cpu.max").value_or("");  // "max 100000"
  const std::vector<std::string_view> fields = words(line);
  return fields.size() == 2 ? cores(parse_integer(fields[0]), parse_integer(fields[1]))
                            : std::nullopt;
}

std::optional<std::int64_t> bytes(std::optional<std::int64_t> limit) {
  return limit && *limit >= 0 && *limit < kUnlimitedBytes ? limit : std::nullopt;
}

}  // namespace

CgroupLimits cgroup_limits(const HostFiles& files) {
  CgroupLimits limits;
  for (const fs::path& folder : own_folders(files, "cpu")) {
    keep_smaller(limits.cpu_quota_cores, cores(files.read_integer(folder / "cpu.cfs_quota_us"),
                                               files.read_integer(folder / "cpu.cfs_period_us")));
  }
  for (const fs::path& folder : own_folders(files, "memory")) {
    keep_smaller(limits.memory_bytes, bytes(files.read_integer(folder / "memory.limit_in_bytes")));
  }
  for (const fs::path& folder : own_folders(files, "")) {
    keep_smaller(limits.cpu_quota_cores, quota_v2(files, folder));
    keep_smaller(limits.memory_bytes, bytes(files.read_integer(folder / "memory.max")));
  }
  return limits;
}

std::optional<std::int64_t> cgroup_throttles(const HostFiles& files) {
  std::optional<std::int64_t> most;
  for (const char* controller : {"cpu", ""}) {
    for (const fs::path& folder : own_folders(files, controller)) {
      const std::string text = files.read_text(folder / "cpu.stat").value_or("");
      for (const std::string_view line : split(text, '\n')) {
        const auto fields = words(line);
        if (fields.size() == 2 && fields[0] == "nr_throttled") {
          most = std::max(most, parse_integer(fields[1]));
        }
      }
    }
  }
  return most;
}

}  // namespace fleetbench
