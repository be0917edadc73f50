// /proc/self/mountinfo, see proc_pid_mountinfo(5).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fleetbench {

struct MountEntry {
  std::string root;  // the folder of the file system that is mounted, "/" mostly
  std::string mount_point;
  std::string options;  // of this mount: "rw,noatime"
  std::string fs_type;
  std::string source;
  std::string super_options;  // of the file system: "rw,errors=continue"
  int id = -1;
  int parent = -1;  // the id of the mount on which this one stands
};

// In the order of the text; \040 and its like are decoded. Lines of another form are left out.
std::vector<MountEntry> parse_mountinfo(std::string_view text);

// "a\040b" is "a b": how the kernel writes white space and backslashes in tables of mounts.
std::string without_octal_escapes(std::string_view text);

}  // namespace fleetbench
