// What every call of the library does beside its work.
#pragma once

#include <cublasLt.h>

#include "tests/gpu_sim/model/model.hpp"

namespace gpu_sim {

struct StatusError {
  cublasStatus_t status;
};

inline void require_status(bool fine, cublasStatus_t otherwise = CUBLAS_STATUS_INVALID_VALUE) {
  if (!fine) {
    throw StatusError{otherwise};
  }
}

// `body(Model&, Lock&)` with the model locked: what it throws is returned.
template <typename Body>
cublasStatus_t lt_call(Body body) {
  Model& model = Model::get();
  Lock lock(model.mutex);
  try {
    body(model, lock);
    return CUBLAS_STATUS_SUCCESS;
  } catch (const StatusError& error) {
    return error.status;
  } catch (const CudaError&) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

// Whether `handle` was created and not destroyed; throws CUBLAS_STATUS_NOT_INITIALIZED.
void require_handle(cublasLtHandle_t handle);

}  // namespace gpu_sim
