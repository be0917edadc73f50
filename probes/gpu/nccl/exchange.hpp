// Small things that ranks tell each other over the communicator that is measured. All ranks call
// the same functions in the same order; each also is a barrier, of host and device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/gpu/nccl/call_memory.hpp"
#include "probes/gpu/nccl/communicator.hpp"

namespace fleetbench::gpu::nccl {

class Exchange {
 public:
  // Both outlive it.
  Exchange(Communicator& communicator, const Stream& stream);

  // Element by element over all ranks, who give as many.
  std::vector<std::int64_t> sum(std::vector<std::int64_t> mine);
  double largest(double mine);
  // That of each rank, in their order; whose own is `mine`.
  std::vector<double> each(double mine);
  // What each rank gives, all as many numbers; empty where it was damaged on its way, as it may be
  // where results are wrong.
  std::vector<std::vector<std::int64_t>> each_row(std::vector<std::int64_t> mine);
  // Likewise. Texts that are longer than `limit` bytes are cut off.
  std::vector<std::string> each_text(std::string mine, std::size_t limit);
  void meet() { sum({0}); }
  // Complete: the stream came to the end of the last of these.
  const Event& last() const { return done_; }

  // Between two ranks only: one sends, the other receives.
  void send(std::int64_t value, std::size_t to);
  std::int64_t receive(std::size_t from);

 private:
  template <typename Value>
  void reduce(std::vector<Value>& values, ncclDataType_t type, ncclRedOp_t operation);
  std::string gather(const void* mine, std::size_t bytes);
  void reserve(std::size_t bytes);
  void upload(const void* data, std::size_t bytes);
  void finish(void* data, std::size_t bytes, const void* from);

  Communicator& communicator_;
  const Stream& stream_;
  Event done_;
  std::optional<CallMemory> memory_;
};

}  // namespace fleetbench::gpu::nccl
