// D = Aᵀ·B of n × n matrices in columns, by cuBLASLt with an algorithm that can be sent to another
// process: the transposed A is what fp8 demands, and the same for all keeps figures alike.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>
#include <vector>

#include "probes/gpu/handles.hpp"
#include "probes/gpu/precision.hpp"

namespace fleetbench::gpu {

// As cuBLASLt has it; means something to the same version of it only.
using Algorithm = cublasLtMatmulAlgo_t;
std::string to_hex(const Algorithm& algorithm);
// Throws std::invalid_argument where the text is none.
Algorithm algorithm_from_hex(const std::string& text);

// 130002 for 13.0.2, of the library that is loaded.
std::size_t cublaslt_version();

class Matmul {
 public:
  // Allocates the workspace. Throws CudaError, std::runtime_error where cuBLASLt refuses.
  Matmul(const Gpu& gpu, const Precision& precision, int n);

  // What cuBLASLt thinks fastest on this device, the best first. Throws NotAvailable where it knows
  // none. Only algorithms whose sums do not depend on who comes first.
  std::vector<Algorithm> candidates() const;
  // Throws NotAvailable where this device cannot use it.
  void use(const Algorithm& algorithm);
  // Precondition: use(). Returns when it is queued.
  void queue(const void* a, const void* b, void* d, cudaStream_t stream) const;

 private:
  template <typename Handle, cublasStatus_t (*destroy)(Handle)>
  struct Destroy {
    void operator()(Handle handle) const { destroy(handle); }
  };
  template <typename Handle, cublasStatus_t (*destroy)(Handle)>
  using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<Handle, destroy>>;

  void check(cublasStatus_t status, const char* call) const;

  const Gpu& gpu_;
  std::string precision_;
  Owned<cublasLtHandle_t, cublasLtDestroy> handle_;
  Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> operation_;
  Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> input_;
  Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> output_;
  DeviceMemory workspace_;
  Algorithm algorithm_{};
};

}  // namespace fleetbench::gpu
