// Nodes that edges join into blocks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fleetbench::detect {

inline constexpr std::size_t kSmallestBlock = 3;  // nodes

struct Edge {
  std::size_t a = 0;
  std::size_t b = 0;
  double length = 0;
};

struct Blocked {
  std::vector<int> block;  // of each node, from 0; -1 where what it hangs with is no block
  int blocks = 0;
};

Blocked blocks_joined(std::size_t nodes, std::span<const Edge> edges);

}  // namespace fleetbench::detect
