// The check of a collective's result on the GPU, element by element, against what ExactData says.
#pragma once

#include "probes/gpu/nccl/call_memory.hpp"
#include "probes/gpu/pattern.hpp"
#include "probes/support/exact_data.hpp"

namespace fleetbench::gpu::nccl {

class ExactCheck {
 public:
  // For the members of a place; `gpu` outlives it.
  ExactCheck(const Gpu& gpu, std::size_t members);

  // What member `me` sends. Returns when it is there.
  void fill(float* send, std::size_t count, std::size_t me);
  // Nothing that could pass for a result. Returns when it is there.
  void clear(float* receive, std::size_t count);
  // Of all that `me` received for `count` elements of the rule.
  WrongElements compare(const CollectiveShape& shape, const float* got, std::size_t count,
                        std::size_t me);

 private:
  void compare_part(const ExpectedPart& part, const float* got, WrongElements& wrong);
  std::uint32_t length() const { return static_cast<std::uint32_t>(data_.values().size()); }
  void synchronize();

  const Gpu& gpu_;
  ExactData data_;
  Grid grid_;
  Stream stream_;
  CallMemory values_;
  CallMemory sums_;
  CallMemory counted_;
};

}  // namespace fleetbench::gpu::nccl
