// The multiplication itself, put into a stream.
#include <cstring>

#include "tests/gpu_sim/cublaslt/algorithms.hpp"
#include "tests/gpu_sim/cublaslt/call.hpp"
#include "tests/gpu_sim/cublaslt/product.hpp"
#include "tests/gpu_sim/model/chip.hpp"
#include "tests/gpu_sim/model/work.hpp"

namespace gpu_sim {

namespace {

struct Operands {
  const void* alpha;
  const void* a;
  const void* b;
  const void* beta;
  const void* c;
  void* d;
  void* workspace;
  std::size_t workspace_bytes;
};

// Alpha and beta: taken at the call from host memory, or when it runs from the device's.
float factor(const Model& model, const Device& device, const void* at, bool on_device) {
  float value = 0;
  std::memcpy(&value, on_device ? model.memory.reach(device, at, sizeof value) : at, sizeof value);
  return value;
}

// The product of the scales of A and B, of those that are given.
float scales(const Model& model, const Device& device, const MatmulDesc& desc) {
  float scale = 1;
  for (const std::size_t matrix : {0, 1}) {
    if (desc.scale_pointers[matrix] != nullptr) {
      scale *= factor(model, device, desc.scale_pointers[matrix], true);
    }
  }
  return scale;
}

void flip_in_result(const Problem& problem, std::byte* d) {
  const auto size = element_bytes(static_cast<cudaDataType_t>(problem.d.type));
  const std::uint64_t column = problem.n / 2;
  flip_a_bit(d + column * static_cast<std::uint64_t>(problem.d.leading) * size, problem.m * size);
}

void run(const Model& model, const Device& device, const Problem& problem, const Operands& operands,
         bool wrong) {
  const bool on_device = problem.desc.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  const float alpha = factor(model, device, operands.alpha, on_device);
  const float beta = factor(model, device, operands.beta, on_device);
  if (operands.workspace_bytes > 0) {
    model.memory.reach(device, operands.workspace, operands.workspace_bytes);
  }
  const std::byte* a = model.memory.reach(device, operands.a, span_bytes(problem.a));
  const std::byte* b = model.memory.reach(device, operands.b, span_bytes(problem.b));
  const std::byte* c =
      beta == 0 ? nullptr : model.memory.reach(device, operands.c, span_bytes(problem.c));
  std::byte* d = model.memory.reach(device, operands.d, span_bytes(problem.d));
  multiply(problem, alpha * scales(model, device, problem.desc), a, b, beta, c, d);
  if (wrong) {
    flip_in_result(problem, d);
  }
}

// Where the program names none: the first that the workspace is enough for.
const Algorithm& chosen(const cublasLtMatmulAlgo_t* algo, const Problem& problem,
                        std::size_t workspace_bytes) {
  if (algo != nullptr) {
    const Algorithm& named = unpacked(*algo, problem.precision);
    require_status(named.workspace_bytes <= workspace_bytes);
    return named;
  }
  return algorithms().front();
}

void require_alignment(const Problem& problem, const Operands& operands) {
  for (const void* at : {operands.a, operands.b, static_cast<const void*>(operands.d)}) {
    require_status(
        problem.precision != Precision::fp8 || reinterpret_cast<std::uintptr_t>(at) % 16 == 0,
        CUBLAS_STATUS_NOT_SUPPORTED);
  }
}

// Alpha and beta of the host may change after the call: their values go along.
struct HostFactors {
  float alpha, beta;
};

void submit(Model& model, const Problem& problem, Operands operands, const Algorithm& algorithm,
            cudaStream_t stream) {
  const auto queue = model.queue(stream);
  Device& device = *queue->device;
  require_status(&device == &model.current_device());
  const std::uint64_t number = device.next_gemm();
  const bool wrong = device.faults().wrong_gemm && number >= *device.faults().wrong_gemm;
  HostFactors factors{};
  const bool on_host = problem.desc.pointer_mode == CUBLASLT_POINTER_MODE_HOST;
  if (on_host) {
    factors = {factor(model, device, operands.alpha, false),
               factor(model, device, operands.beta, false)};
  }
  operands.workspace_bytes = algorithm.workspace_bytes;
  const double rate = flop_per_s(problem.precision) * chip::kGemmEfficiency * algorithm.speed;
  submit_launch(model, *queue, device.gemm_ns(problem.flop(), rate),
                [&model, &device, problem, operands, wrong, factors, on_host]() mutable {
                  if (on_host) {
                    operands.alpha = &factors.alpha;
                    operands.beta = &factors.beta;
                  }
                  run(model, device, problem, operands, wrong);
                });
}

}  // namespace

}  // namespace gpu_sim

using namespace gpu_sim;

extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                         const void* alpha, const void* a,
                                         cublasLtMatrixLayout_t a_layout, const void* b,
                                         cublasLtMatrixLayout_t b_layout, const void* beta,
                                         const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                                         cublasLtMatrixLayout_t d_layout,
                                         const cublasLtMatmulAlgo_t* algo, void* workspace,
                                         std::size_t workspace_bytes, cudaStream_t stream) {
  return lt_call([&](Model& model, Lock&) {
    require_handle(handle);
    require_status(!model.sticky, CUBLAS_STATUS_EXECUTION_FAILED);
    require_status(alpha != nullptr && a != nullptr && b != nullptr && beta != nullptr &&
                   d != nullptr);
    const Problem problem = problem_of(desc, a_layout, b_layout, c_layout, d_layout);
    const Operands operands{alpha, a, b, beta, c, d, workspace, workspace_bytes};
    require_alignment(problem, operands);
    submit(model, problem, operands, chosen(algo, problem, workspace_bytes), stream);
  });
}
