// Which hosts a launch command means, and the same command without some of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fleetbench::gate {

using Words = std::vector<std::string>;
// The text of a file; absent where it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

// Where in the command fleetbench begins: the first word whose last part is `fleetbench` or begins
// with `fleetbench-`. Throws InputError where there is none.
std::size_t program_position(const Words& command);

// The value of `--name VALUE` or `--name=VALUE` among the arguments of fleetbench.
std::optional<std::string> argument(const Words& command, const std::string& name);

// What the launcher's options name, each once, in order: --host, -H, -host, --hostfile, -hostfile,
// --machinefile, -machinefile. Empty where none does.
Words hosts_of(const Words& command, const ReadFile& read_file);

// "a,b:2,c" or "node[01-03,07],x" → each host once. Throws InputError for a range that is none.
Words expand_hosts(const std::string& list);

// Replaces {hosts} and {count}. Where the command has neither, hosts that are not in `left` are
// taken out of mpirun's --host and -np. Throws InputError where it names no hosts in either way, or
// none would be left.
Words with_hosts(const Words& command, const Words& all, const Words& left,
                 const ReadFile& read_file);

}  // namespace fleetbench::gate
