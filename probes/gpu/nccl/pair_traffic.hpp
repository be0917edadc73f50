// The traffic between the two sides of a pair, in sends and receives of NCCL.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "probes/gpu/nccl/call_memory.hpp"
#include "probes/gpu/nccl/pair_plan.hpp"
#include "probes/gpu/nccl/session.hpp"

namespace fleetbench::gpu::nccl {

struct PairBuffers {
  PairBuffers(const Gpu& gpu, const PairPlan& plan)
      : outgoing(gpu, std::max(plan.message_bytes, plan.latency_bytes)),
        incoming(gpu, std::max(plan.message_bytes, plan.latency_bytes)) {}
  CallMemory outgoing;
  CallMemory incoming;
};

// All ranks call the same functions in the same order.
class PairTraffic {
 public:
  // All outlive it.
  PairTraffic(Session& session, const PairSides& sides, const PairPlan& plan, PairBuffers& buffers);

  enum class Way { there, back, both };  // from the first side to the second, back, or both at once

  struct Transfer {
    int messages = 0;            // in each direction that is used
    double seconds = 0;          // of this rank
    std::vector<double> rank_s;  // of all ranks
  };

  // One message each way, untimed, of which every word is looked at. Throws on all ranks the same
  // WrongResult where one is false.
  void verify();
  Transfer transfer(Way way);
  // Seconds of a small message one way, half of the round trip, mean over each batch; by this rank.
  std::vector<double> latency();

 private:
  bool sends(Way way) const;
  bool receives(Way way) const;
  void message(Way way, std::size_t bytes);
  void round_trip();
  void agree(std::uint64_t wrong_words);

  Session& session_;
  const PairSides& sides_;
  const PairPlan& plan_;
  PairBuffers& buffers_;
  std::size_t me_;
  std::size_t peer_;
};

}  // namespace fleetbench::gpu::nccl
