// The library's handle, its version and its words.
#include <set>

#include "tests/gpu_sim/cublaslt/call.hpp"

using gpu_sim::Lock;
using gpu_sim::lt_call;
using gpu_sim::Model;
using gpu_sim::require_status;

namespace {

std::set<cublasLtHandle_t>& handles() {
  static auto* all = new std::set<cublasLtHandle_t>;
  return *all;
}

}  // namespace

void gpu_sim::require_handle(cublasLtHandle_t handle) {
  require_status(handles().contains(handle), CUBLAS_STATUS_NOT_INITIALIZED);
}

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return lt_call([&](Model& model, Lock&) {
    require_status(handle != nullptr);
    try {
      model.current_device();
    } catch (const gpu_sim::CudaError&) {
      throw gpu_sim::StatusError{CUBLAS_STATUS_NOT_INITIALIZED};
    }
    static std::uintptr_t next = 0;
    next += 16;
    *handle = reinterpret_cast<cublasLtHandle_t>(next);
    handles().insert(*handle);
    model.ledger.opened("cublasLt handle");
  });
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return lt_call([&](Model& model, Lock&) {
    gpu_sim::require_handle(handle);
    handles().erase(handle);
    model.ledger.closed("cublasLt handle");
  });
}

std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_UNKNOWN";
  }
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the function failed to launch on the GPU";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the requested functionality is not supported";
    default:
      return "unknown status";
  }
}

}  // extern "C"
