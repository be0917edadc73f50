// What every call of the runtime does beside its work.
#pragma once

#include <cuda_runtime_api.h>

#include "tests/gpu_sim/model/model.hpp"

namespace gpu_sim {

// Keeps `error` as this thread's last, and returns it.
cudaError_t noted(cudaError_t error);

// `body(Model&, Lock&)` with the model locked: what it throws is returned and noted. Refuses where
// an earlier error ended the context.
template <typename Body>
cudaError_t call(Body body) {
  Model& model = Model::get();
  Lock lock(model.mutex);
  if (model.sticky) {
    return noted(*model.sticky);
  }
  try {
    body(model, lock);
    return cudaSuccess;
  } catch (const CudaError& error) {
    return noted(error.code);
  }
}

// The same for what gives something back: done even where the context has ended, so that it does
// not count as lost, but refused all the same.
template <typename Body>
cudaError_t give_back(Body body) {
  Model& model = Model::get();
  Lock lock(model.mutex);
  try {
    body(model, lock);
  } catch (const CudaError& error) {
    return noted(model.sticky.value_or(error.code));
  }
  return model.sticky ? noted(*model.sticky) : cudaSuccess;
}

}  // namespace gpu_sim
