// Work that the libraries hand to a device, with the faults that come with it.
#pragma once

#include <cstddef>
#include <functional>

#include "tests/gpu_sim/model/model.hpp"

namespace gpu_sim {

// Copies `bytes` between two places, both of which must hold them: else cudaErrorInvalidValue. The
// direction follows from the pointers. Returns the operation; says whether the caller must wait for
// it, as CUDA does where a place is not page-locked.
struct SubmittedCopy {
  OperationPtr operation;
  bool synchronous;
};
SubmittedCopy submit_copy(Model& model, Queue& queue, void* to, const void* from,
                          std::size_t bytes);

// A kernel: `effect` runs when it begins.
OperationPtr submit_launch(Model& model, Queue& queue, double duration_ns,
                           std::function<void()> effect);

// Turns one bit of `bytes` > 0 bytes, always the same of as many.
void flip_a_bit(std::byte* data, std::size_t bytes);

}  // namespace gpu_sim
