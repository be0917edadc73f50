// How much traffic goes between the two sides of a pair, and what follows from what it took. PURE.
#pragma once

#include <cstddef>
#include <vector>

#include "probes/gpu/nccl/place.hpp"

namespace fleetbench::gpu::nccl {

// The first half of the ranks sends to the second one, each to its own peer, all at once, and the
// other way round.
class PairSides {
 public:
  // Throws NotAvailable where the halves are not alike or there is none.
  explicit PairSides(const Place& place);

  std::size_t pairs() const { return pairs_; }
  bool is_first(std::size_t rank) const { return rank < pairs_; }
  std::size_t peer_of(std::size_t rank) const {
    return is_first(rank) ? rank + pairs_ : rank - pairs_;
  }

  // Bytes a second over all pairs: `bytes` of each in the time of the later of its two ends.
  double rate(double bytes, const std::vector<double>& rank_s) const;

 private:
  std::size_t pairs_;
};

struct PairPlan {
  std::size_t message_bytes = 0;
  int messages = 1;  // in each direction
  int warmup = 1;
  std::size_t latency_bytes = 0;
  int batches = 1;
  int round_trips = 1;  // per batch
  double max_s = 0;     // per direction, and for the latency
};

Json pair_properties();
PairPlan pair_plan_from(const Json& params);

}  // namespace fleetbench::gpu::nccl
