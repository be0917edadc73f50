// Which file systems may be shared with other nodes.
#pragma once

#include <string_view>

namespace fleetbench {

// By the type in /proc/self/mountinfo. On the safe side: FUSE of a kind that is not known to be
// local counts as shared.
bool may_be_shared(std::string_view fs_type);

// It has no disk: what is written there is in memory.
bool is_memory(std::string_view fs_type);

}  // namespace fleetbench
