#include "probes/support/mount_facts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "probes/support/text_fields.hpp"

namespace fleetbench {

namespace {

constexpr std::array<std::string_view, 27> kTypesWithoutData = {
    "proc",       "sysfs",     "cgroup",         "cgroup2",   "devtmpfs",    "devpts",
    "mqueue",     "hugetlbfs", "debugfs",        "tracefs",   "securityfs",  "pstore",
    "bpf",        "configfs",  "fusectl",        "autofs",    "binfmt_misc", "efivarfs",
    "rpc_pipefs", "nsfs",      "ramfs",          "selinuxfs", "fuse.lxcfs",  "fuse.portal",
    "sockfs",     "resctrl",   "fuse.gvfsd-fuse"};

constexpr std::array<std::string_view, 5> kSecretWords = {"pass", "secret", "key", "token", "cred"};
constexpr std::array<std::string_view, 3> kOverlayLayers = {"lowerdir", "upperdir", "workdir"};

template <std::size_t count>
bool is_among(const std::array<std::string_view, count>& all, std::string_view text) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

bool is_in(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

bool holds_data(const MountEntry& mount) {
  const std::string& point = mount.mount_point;
  if (mount.fs_type == "tmpfs") {
    return point == "/dev/shm" || !(is_in(point, "/run") || is_in(point, "/sys") ||
                                    is_in(point, "/dev") || is_in(point, "/proc"));
  }
  if (mount.fs_type == "overlay") {
    return point == "/";
  }
  return !is_among(kTypesWithoutData, mount.fs_type) && !is_in(point, "/snap");
}

bool may_be_secret(std::string_view name) {
  return std::any_of(kSecretWords.begin(), kSecretWords.end(), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

void append_options(std::string_view options, std::vector<std::string>& shown) {
  for (const std::string_view option : split(options, ',')) {
    const std::string_view name = option.substr(0, option.find('='));
    if (option.empty() || option == "rw" || option == "ro" || is_among(kOverlayLayers, name)) {
      continue;
    }
    const bool hidden = name.size() < option.size() && may_be_secret(name);
    const std::string text = hidden ? std::string(name) + "=…" : std::string(option);
    if (std::find(shown.begin(), shown.end(), text) == shown.end()) {
      shown.push_back(text);
    }
  }
}

bool is_read_only(std::string_view options) {
  const std::vector<std::string_view> all = split(options, ',');
  return std::find(all.begin(), all.end(), "ro") != all.end();
}

// Those of the mount and of the file system under it as one, as /proc/mounts shows them.
std::string options(const MountEntry& mount) {
  std::vector<std::string> shown;
  append_options(mount.options, shown);
  append_options(mount.super_options, shown);
  std::string text = is_read_only(mount.options) || is_read_only(mount.super_options) ? "ro" : "rw";
  for (const std::string& option : shown) {
    text += "," + option;
  }
  return text;
}

std::string without_login(const std::string& source) {
  const std::size_t scheme = source.find("://");
  if (scheme == std::string::npos) {
    return source;
  }
  const std::size_t host = scheme + 3;
  const std::size_t at = source.substr(0, source.find('/', host)).rfind('@');
  return at == std::string::npos || at < host ? source
                                              : source.substr(0, host) + "…" + source.substr(at);
}

std::vector<MountEntry> topmost(std::vector<MountEntry> mounts) {
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    last[mounts[i].mount_point] = i;
  }
  std::vector<MountEntry> kept;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    if (last[mounts[i].mount_point] == i) {
      kept.push_back(std::move(mounts[i]));
    }
  }
  return kept;
}

}  // namespace

FactList mount_facts(std::string_view mountinfo) {
  std::vector<MountEntry> mounts = topmost(parse_mountinfo(mountinfo));
  std::erase_if(mounts, [](const MountEntry& mount) { return !holds_data(mount); });
  FactList facts{.entries = Json::array(), .left_off = cut_to(kMaxMounts, mounts)};
  for (const MountEntry& mount : mounts) {
    facts.entries.push_back(mount_fact(mount));
  }
  return facts;
}

Json mount_fact(const MountEntry& mount) {
  return {{"mount_point", mount.mount_point},
          {"fs_type", mount.fs_type},
          {"source", without_login(mount.source)},
          {"options", options(mount)}};
}

}  // namespace fleetbench
