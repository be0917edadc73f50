#include "probes/gpu/matmul.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "probes/probe.hpp"

namespace fleetbench::gpu {
namespace {

// What cuBLASLt's own advice is for Hopper; smaller chips need less.
constexpr std::size_t kWorkspace_bytes = std::size_t{32} << 20U;
constexpr int kMostCandidates = 8;

}  // namespace

const Precision& precision_named(std::string_view name) {
  for (const Precision& precision : kPrecisions) {
    if (precision.name == name) {
      return precision;
    }
  }
  throw std::invalid_argument(fmt::format("precision \"{}\" is not known", name));
}

bool has(const GpuInfo& info, const Precision& precision) {
  return info.compute_major * 10 + info.compute_minor >= precision.lowest_compute;
}

std::string to_hex(const Algorithm& algorithm) {
  std::string text;
  for (const auto word : algorithm.data) {
    text += fmt::format("{:016x}", word);
  }
  return text;
}

Algorithm algorithm_from_hex(const std::string& text) {
  constexpr std::size_t kDigits = 16;
  Algorithm algorithm{};
  const std::size_t words = std::size(algorithm.data);
  if (text.size() != words * kDigits ||
      text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw std::invalid_argument("\"" + text + "\" is no algorithm of cuBLASLt");
  }
  for (std::size_t i = 0; i < words; ++i) {
    algorithm.data[i] = std::stoull(text.substr(i * kDigits, kDigits), nullptr, 16);
  }
  return algorithm;
}

std::size_t cublaslt_version() { return cublasLtGetVersion(); }

Matmul::Matmul(const Gpu& gpu, const Precision& precision, int n)
    : gpu_(gpu), precision_(precision.name), workspace_(gpu, kWorkspace_bytes) {
  cublasLtHandle_t handle = nullptr;
  check(cublasLtCreate(&handle), "cublasLtCreate");
  handle_.reset(handle);
  cublasLtMatmulDesc_t operation = nullptr;
  check(cublasLtMatmulDescCreate(&operation, precision.compute, CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  operation_.reset(operation);
  const cublasOperation_t transposed = CUBLAS_OP_T;
  check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                       sizeof transposed),
        "cublasLtMatmulDescSetAttribute");
  const auto size = static_cast<std::uint64_t>(n);
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, precision.input, size, size, n),
        "cublasLtMatrixLayoutCreate");
  input_.reset(layout);
  check(cublasLtMatrixLayoutCreate(&layout, precision.output, size, size, n),
        "cublasLtMatrixLayoutCreate");
  output_.reset(layout);
}

std::vector<Algorithm> Matmul::candidates() const {
  cublasLtMatmulPreference_t made = nullptr;
  check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
  const Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference(made);
  const std::size_t bytes = workspace_.bytes();
  check(cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                             sizeof bytes),
        "cublasLtMatmulPreferenceSetAttribute");
  const std::uint32_t exact = CUBLASLT_REDUCTION_SCHEME_NONE;
  check(cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                             &exact, sizeof exact),
        "cublasLtMatmulPreferenceSetAttribute");
  std::vector<cublasLtMatmulHeuristicResult_t> results(kMostCandidates);
  int count = 0;
  const auto status = cublasLtMatmulAlgoGetHeuristic(handle_.get(), operation_.get(), input_.get(),
                                                     input_.get(), output_.get(), output_.get(),
                                                     made, kMostCandidates, results.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && count == 0)) {
    throw NotAvailable(fmt::format("cuBLASLt has no {} multiplication of this size for {} ({})",
                                   precision_, gpu_.label(), gpu_.info().name));
  }
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<Algorithm> algorithms;
  for (int i = 0; i < count; ++i) {
    if (results[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS) {
      algorithms.push_back(results[static_cast<std::size_t>(i)].algo);
    }
  }
  return algorithms;
}

void Matmul::use(const Algorithm& algorithm) {
  cublasLtMatmulHeuristicResult_t result{};
  const auto status =
      cublasLtMatmulAlgoCheck(handle_.get(), operation_.get(), input_.get(), input_.get(),
                              output_.get(), output_.get(), &algorithm, &result);
  const bool is_unfit = status == CUBLAS_STATUS_NOT_SUPPORTED ||
                        status == CUBLAS_STATUS_INVALID_VALUE ||
                        status == CUBLAS_STATUS_ARCH_MISMATCH;
  if (!is_unfit) {
    check(status, "cublasLtMatmulAlgoCheck");
  }
  if (is_unfit || result.workspaceSize > workspace_.bytes()) {
    throw NotAvailable(fmt::format(
        "{} ({}) cannot use the {} algorithm that was chosen on the first GPU, so that its rate "
        "could not be compared",
        gpu_.label(), gpu_.info().name, precision_));
  }
  algorithm_ = algorithm;
}

void Matmul::queue(const void* a, const void* b, void* d, cudaStream_t stream) const {
  const float one = 1;
  const float zero = 0;
  check(cublasLtMatmul(handle_.get(), operation_.get(), &one, a, input_.get(), b, input_.get(),
                       &zero, d, output_.get(), d, output_.get(), &algorithm_, workspace_.get(),
                       workspace_.bytes(), stream),
        "cublasLtMatmul");
}

void Matmul::check(cublasStatus_t status, const char* call) const {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(fmt::format("{} in {} on {}: {} ({})", call, precision_, gpu_.label(),
                                         cublasLtGetStatusString(status),
                                         cublasLtGetStatusName(status)));
  }
}

}  // namespace fleetbench::gpu
