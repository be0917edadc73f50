#include "harness/detect/block_edges.hpp"

#include <map>

#include "harness/detect/joined.hpp"

namespace fleetbench::detect {

Blocked blocks_joined(std::size_t nodes, std::span<const Edge> edges) {
  Joined joined(nodes);
  for (const Edge& edge : edges) {
    joined.join(static_cast<int>(edge.a), static_cast<int>(edge.b));
  }
  std::map<int, std::size_t> sizes;
  for (std::size_t i = 0; i < nodes; ++i) {
    ++sizes[joined.root_of(static_cast<int>(i))];
  }
  std::map<int, int> numbers;
  Blocked result{std::vector<int>(nodes, -1), 0};
  for (std::size_t i = 0; i < nodes; ++i) {
    const int root = joined.root_of(static_cast<int>(i));
    if (sizes[root] >= kSmallestBlock) {
      result.block[i] = numbers.try_emplace(root, static_cast<int>(numbers.size())).first->second;
    }
  }
  result.blocks = static_cast<int>(numbers.size());
  return result;
}

}  // namespace fleetbench::detect
