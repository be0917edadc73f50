// Who measures with whom: the ranks of a communicator. PURE.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench::gpu::nccl {

struct RankPlace {
  std::string node;
  std::string device;  // "gpu3"
};

struct Place {
  std::size_t index = 0;
  std::vector<RankPlace> ranks;

  std::size_t size() const { return ranks.size(); }
  // "rank 3 of 8 (node1 gpu3)"
  std::string name_of(std::size_t rank) const;
  std::string own_name() const { return name_of(index); }
  // For each rank the first one on its node, whose clock it shares.
  std::vector<std::size_t> clock_owners() const;
};

// `work`'s "place": {"index": 3, "ranks": [{"node", "device"}…]}. Throws std::runtime_error naming
// what is wrong with it.
Place place_from(const Json& work);

}  // namespace fleetbench::gpu::nccl
