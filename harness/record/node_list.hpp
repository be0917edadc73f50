// Node lists as Slurm writes them: "node[001-003,007],login-a".
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fleetbench::record {

// What makes a text no node list; says what and where.
struct NodeListError : std::runtime_error {
  NodeListError(bool is_too_long, const std::string& what)
      : std::runtime_error(what), too_many(is_too_long) {}
  bool too_many;  // it is one, and names more nodes than any cluster has
};

inline constexpr std::size_t kMostNodesOfList = 200'000;

// In the order in which they are named, also those that are named twice. Leading zeros stay; a name
// may have several brackets; blanks within brackets and around commas count for nothing. Throws
// NodeListError.
std::vector<std::string> expand_node_list(std::string_view list);

}  // namespace fleetbench::record
