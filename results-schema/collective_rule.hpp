// How nccl-tests counts a collective: what a size and a count are, and the factor of the bus
// bandwidth. Probes name and compute their metrics by it, reports print by it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace fleetbench {

// Source: nccl-tests, doc/PERFORMANCE.md and the GetCollByteCount and GetBw functions of src/*.cu.
struct CollectiveRule {
  std::string_view name;   // "all_reduce", stands before ".busbw.SIZE" in the names of metrics
  std::string_view redop;  // "sum", or "none"; that of sendrecv is "sum", as nccl-tests prints it
  int root = -1;           // -1: it has none
  // True: a size is that of the parts of all members together, and each member's part is a share of
  // it. False: a size is that of one member's buffer.
  bool shared_out = false;
  // It cannot end at any member before all have entered it.
  bool waits_for_all = false;
  // What to multiply bytes / time with, so that the figure can be held against what the hardware
  // of one member can do whatever the number of members.
  double (*busbw_factor)(std::size_t members) = nullptr;

  // The floats that each member passes to the call for a size of `bytes`. A share is rounded down
  // to 16 bytes, so it is 0 where `bytes` are too few for so many members. Precondition: members.
  std::size_t count(std::size_t bytes, std::size_t members) const;
  // The bytes that are really measured for a count, as they enter the bandwidths.
  std::size_t bytes(std::size_t count, std::size_t members) const;
};

// all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, sendrecv; the root of
// broadcast and reduce is member 0, which is nccl-tests' default.
const std::vector<CollectiveRule>& collective_rules();
// Null where there is none.
const CollectiveRule* find_collective_rule(std::string_view name);

}  // namespace fleetbench
