// Reads what Linux says about a machine in /sys, /proc and /etc. The one seam between the readers
// of facts and the file system: tests give it the root of a tree that describes hardware that is
// not here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fleetbench {

// Paths are absolute ("/proc/meminfo") and looked up below the root; links are followed as the file
// system does, so they must be relative, as those of /sys are. Nothing here throws on a file that
// is missing, unreadable or odd: that is `nullopt`. A read may hang where the kernel does (a sick
// device), so only workers call it. Texts and names are as the machine gave them and may hold
// anything, invalid UTF-8 too; see printable.hpp.
class HostFiles {
 public:
  // Nothing that is worth reading is larger; 512 CPUs fill /proc/cpuinfo with about 0.8 MB.
  static constexpr std::size_t kMaxFileBytes = 1 << 20;
  static constexpr std::size_t kMaxEntries = 1 << 16;

  explicit HostFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  // At most kMaxFileBytes; a longer text ends at its last whole line.
  std::optional<std::string> read_text(const std::filesystem::path& path) const;
  // The first line without white space around it, unless that leaves nothing.
  std::optional<std::string> read_line(const std::filesystem::path& path) const;
  // The first line, which must be a decimal integer and nothing else.
  std::optional<std::int64_t> read_integer(const std::filesystem::path& path) const;

  // Sorted names in a folder, at most kMaxEntries.
  std::optional<std::vector<std::string>> list(const std::filesystem::path& folder) const;
  bool is_folder(const std::filesystem::path& path) const;
  // Last part of where a link points: the name of a device's driver.
  std::optional<std::string> link_name(const std::filesystem::path& path) const;
  // The path with all links followed, absolute below the root.
  std::optional<std::filesystem::path> resolved(const std::filesystem::path& path) const;

 private:
  std::filesystem::path below_root(const std::filesystem::path& path) const;
  // Up to its end, or to the first line end where only `first_line` is asked for.
  std::optional<std::string> read(const std::filesystem::path& path, bool first_line) const;

  std::filesystem::path root_;
};

}  // namespace fleetbench
