#include "probes/support/volume.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <cstdio>
#include <system_error>

#include "probes/probe.hpp"
#include "probes/support/fact.hpp"
#include "probes/support/mount_facts.hpp"
#include "probes/support/mount_of_path.hpp"
#include "probes/support/network_file_systems.hpp"
#include "probes/support/printable.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> disk_below(const HostFiles& files, const fs::path& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) {
    return std::nullopt;
  }
  return disk_of_device(files, major(status.st_dev), minor(status.st_dev));
}

Json medium(const Volume& volume) {
  return volume.memory   ? Json("memory")
         : volume.shared ? Json("network")
         : volume.disk   ? Json("disk")
                         : Json();
}

}  // namespace

void tell_where(std::string_view probe, const fs::path& folder, std::string_view doing) {
  fmt::print(stderr, "{}: at work in {} ({})\n", probe, printable_text(folder.string()), doing);
  std::fflush(stderr);
}

void require_permission(const Volume& volume, const fs::path& folder, bool allowed) {
  if (volume.shared && !allowed) {
    throw NotAvailable(fmt::format(
        "{} is on {}, a file system that other nodes may share, and is left alone: say "
        "\"shared\": true in the parameters and \"schedule\": \"ramp\" to load it, or name a "
        "local folder with --scratch",
        printable_text(folder.string()), volume.fs_type));
  }
}

Volume volume_of(const HostFiles& files, const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  const std::string mountinfo = files.read_text("/proc/self/mountinfo").value_or("");
  const auto mount =
      mount_of_path(parse_mountinfo(mountinfo), error ? folder.string() : real.string());
  Volume volume{.disk = disk_below(files, folder), .facts = Json::object()};
  if (mount) {
    volume.fs_type = mount->fs_type;
    volume.mount_point = mount->mount_point;
    volume.shared = may_be_shared(mount->fs_type);
    volume.memory = is_memory(mount->fs_type);
    volume.facts = printable(mount_fact(*mount));
  }
  volume.facts["device"] = fact(volume.disk);
  volume.facts["medium"] = medium(volume);
  return volume;
}

Json free_space(const fs::path& folder) {
  struct statvfs status {};
  if (statvfs(folder.c_str(), &status) != 0) {
    return {};
  }
  return static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
}

std::optional<DiskCounters> disk_counters_now(const HostFiles& files, const Volume& volume) {
  if (!volume.disk) {
    return std::nullopt;
  }
  const auto text = files.read_text("/sys/block/" + *volume.disk + "/stat");
  return text ? disk_counters_of_stat(*text) : std::nullopt;
}

std::optional<NfsCounters> nfs_counters_now(const HostFiles& files, const Volume& volume) {
  if (!volume.fs_type.starts_with("nfs")) {
    return std::nullopt;
  }
  const auto text = files.read_text("/proc/self/mountstats");
  return text ? nfs_counters(*text, volume.mount_point) : std::nullopt;
}

}  // namespace fleetbench
