// Sets of CPUs as Linux writes them: "0-3,8".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleetbench {

// Ascending, each CPU once. The empty text is the empty set, as the kernel writes it. `nullopt` for
// what is no such list: "3-1", "1,,2", "0-", "a", or a CPU above 65535.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// The shortest list of the set, which must be ascending.
std::string format_cpu_list(const std::vector<int>& cpus);

}  // namespace fleetbench
