// Multiplication against sums in double precision, and what the library refuses.
#include "tests/gpu_sim/test/gemm.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <array>
#include <cmath>
#include <cstring>
#include <set>

namespace gpu_sim_test {

namespace {

double element(const std::vector<std::byte>& matrix, cudaDataType_t type, std::size_t i) {
  const auto as = [&]<typename T>(T value) {
    std::memcpy(&value, &matrix[i * sizeof(T)], sizeof(T));
    return static_cast<double>(static_cast<float>(value));
  };
  switch (type) {
    case CUDA_R_16F:
      return as(__half());
    case CUDA_R_16BF:
      return as(__nv_bfloat16());
    case CUDA_R_8F_E4M3:
      return as(__nv_fp8_e4m3());
    default:
      return as(float());
  }
}

struct Matrices {
  explicit Matrices(const GemmShape& shape)
      : a(shape.m * shape.k * bytes_of(shape.inputs)),
        b(shape.k * shape.n * bytes_of(shape.inputs)),
        d(shape.m * shape.n * bytes_of(shape.result)) {
    launch_random_matrix(a.get(), shape.m * shape.k, kernel_type(shape.inputs), 1, nullptr);
    launch_random_matrix(b.get(), shape.k * shape.n, kernel_type(shape.inputs), 2, nullptr);
    expect_success(cudaDeviceSynchronize());
  }
  DeviceArray<std::byte> a, b, d;
};

// How far results may be off: by rounding them, and for TF32 by rounding the inputs.
double tolerance(const GemmShape& shape) {
  const double inputs = shape.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? 0x1p-10 : 0x1p-20;
  const double result = shape.result == CUDA_R_16BF  ? 0x1p-8
                        : shape.result == CUDA_R_16F ? 0x1p-11
                                                     : 0;
  return (inputs + result) * std::sqrt(static_cast<double>(shape.k));
}

void expect_product(const GemmShape& shape, const Matrices& matrices, double factor) {
  const auto a = matrices.a.values();
  const auto b = matrices.b.values();
  const auto d = matrices.d.values();
  for (std::uint64_t row = 0; row < shape.m; ++row) {
    for (std::uint64_t column = 0; column < shape.n; ++column) {
      double sum = 0;
      for (std::uint64_t i = 0; i < shape.k; ++i) {
        sum +=
            element(a, shape.inputs, shape.turned_a ? row * shape.k + i : i * shape.m + row) *
            element(b, shape.inputs, shape.turned_b ? i * shape.n + column : column * shape.k + i);
      }
      ASSERT_NEAR(element(d, shape.result, column * shape.m + row), factor * sum,
                  factor * tolerance(shape))
          << row << " " << column;
    }
  }
}

constexpr std::array kTypes{
    GemmShape{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    GemmShape{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    GemmShape{CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
    GemmShape{CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    GemmShape{CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
    GemmShape{CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
};
constexpr GemmShape kFp8{CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, true, false};

TEST(Gemm, EachTypeInEachTransposition) {
  for (GemmShape shape : kTypes) {
    for (const int turned : {0, 1, 2, 3}) {
      shape.turned_a = (turned & 1) != 0;
      shape.turned_b = (turned & 2) != 0;
      SCOPED_TRACE(testing::Message() << shape.inputs << " " << shape.result << " " << turned);
      const Matrices matrices(shape);
      const Gemm gemm(shape);
      EXPECT_EQ(gemm.run(matrices.a.get(), matrices.b.get(), matrices.d.get(), nullptr),
                CUBLAS_STATUS_SUCCESS);
      expect_product(shape, matrices, 1);
    }
  }
}

TEST(Gemm, Tf32RoundsItsInputs) {
  std::vector<std::byte> exact;
  std::vector<std::byte> rounded;
  for (auto* result : {&exact, &rounded}) {
    const GemmShape& shape = kTypes[result == &exact ? 0 : 1];
    const Matrices matrices(shape);
    EXPECT_EQ(Gemm(shape).run(matrices.a.get(), matrices.b.get(), matrices.d.get(), nullptr),
              CUBLAS_STATUS_SUCCESS);
    *result = matrices.d.values();
  }
  EXPECT_NE(exact, rounded);
}

TEST(Gemm, Fp8WithAScale) {
  const DeviceArray<float> scale(std::vector<float>{0.25F});
  for (const cudaDataType_t result : {CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F}) {
    GemmShape shape = kFp8;
    shape.result = result;
    const Matrices matrices(shape);
    Gemm gemm(shape);
    EXPECT_EQ(gemm.set_scale_of_a(scale.get()), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(gemm.run(matrices.a.get(), matrices.b.get(), matrices.d.get(), nullptr),
              CUBLAS_STATUS_SUCCESS);
    expect_product(shape, matrices, 0.25);
  }
}

TEST(Gemm, AlphaAndBeta) {
  const GemmShape shape = kTypes[0];
  const Matrices matrices(shape);
  const Gemm gemm(shape);
  for (const float beta : {0.0F, 2.0F}) {
    EXPECT_EQ(gemm.run(matrices.a.get(), matrices.b.get(), matrices.d.get(), nullptr, nullptr,
                       nullptr, 0, 1, beta),
              CUBLAS_STATUS_SUCCESS);
  }
  expect_product(shape, matrices, 3);
}

TEST(Gemm, UnsupportedCombinationsAreRefused) {
  GemmShape fp8_not_turned = kFp8;
  fp8_not_turned.turned_a = false;
  GemmShape fp8_odd = kFp8;
  fp8_odd.k = 24;
  GemmShape wrong_result = kTypes[2];
  wrong_result.result = CUDA_R_16BF;
  GemmShape half_as_tf32 = kTypes[2];
  half_as_tf32.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  GemmShape doubles = kTypes[0];
  doubles.inputs = CUDA_R_64F;
  for (const GemmShape& shape : {fp8_not_turned, fp8_odd, wrong_result, half_as_tf32, doubles}) {
    EXPECT_EQ(Gemm(shape).heuristic_status(), CUBLAS_STATUS_NOT_SUPPORTED);
  }
}

TEST(Gemm, AlgorithmsGiveTheSameBitsAtDifferentSpeeds) {
  const GemmShape shape{CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, false, false, 512, 512, 64};
  const Matrices matrices(shape);
  const Gemm gemm(shape);
  const std::size_t workspace_bytes = std::size_t{32} << 20;
  const DeviceArray<std::byte> workspace(workspace_bytes);
  std::set<std::vector<std::byte>> results;
  std::set<double> times;
  const auto algorithms = gemm.algorithms(workspace_bytes);
  EXPECT_GE(algorithms.size(), 4U);
  EXPECT_LT(gemm.algorithms(0).size(), algorithms.size());
  for (const auto& algorithm : algorithms) {
    times.insert(seconds_of([&](cudaStream_t stream) {
      EXPECT_EQ(gemm.run(matrices.a.get(), matrices.b.get(), matrices.d.get(), stream,
                         &algorithm.algo, workspace.get(), workspace_bytes),
                CUBLAS_STATUS_SUCCESS);
    }));
    results.insert(matrices.d.values());
  }
  EXPECT_EQ(results.size(), 1U);
  EXPECT_EQ(times.size(), algorithms.size());
}

TEST(Gemm, AnAlgorithmIsBytesOfItsPrecision) {
  const Gemm halves(kTypes[2]);
  const Gemm floats(kTypes[0]);
  std::array<unsigned char, sizeof(cublasLtMatmulAlgo_t)> sent{};
  std::memcpy(sent.data(), &halves.algorithms(0)[0].algo, sent.size());
  cublasLtMatmulAlgo_t received{};
  std::memcpy(&received, sent.data(), sent.size());
  EXPECT_EQ(halves.check(received), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(floats.check(received), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(floats.check({}), CUBLAS_STATUS_INVALID_VALUE);
}

TEST(Gemm, AlgorithmsCanBeNamed) {
  cublasLtHandle_t handle = nullptr;
  ASSERT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
  std::array<int, 10> ids{};
  int found = 0;
  EXPECT_EQ(cublasLtMatmulAlgoGetIds(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F,
                                     CUDA_R_16F, CUDA_R_16F, 10, ids.data(), &found),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_GE(found, 2);
  cublasLtMatmulAlgo_t algo{};
  EXPECT_EQ(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F,
                                   CUDA_R_16F, CUDA_R_16F, ids[1], &algo),
            CUBLAS_STATUS_SUCCESS);
  int id = 0;
  std::size_t written = 0;
  EXPECT_EQ(cublasLtMatmulAlgoConfigGetAttribute(&algo, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id,
                                                 &written),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(id, ids[1]);
  EXPECT_EQ(Gemm(kTypes[2]).check(algo), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_NOT_INITIALIZED);
}

TEST(Gemm, DescriptorsMayLieOnTheStackAndFactorsOnTheDevice) {
  const GemmShape shape = kTypes[0];
  const Matrices matrices(shape);
  const DeviceArray<float> factors(std::vector<float>{0.5F, 0});
  cublasLtMatmulDescOpaque_t desc{};
  cublasLtMatrixLayoutOpaque_t a{};
  cublasLtMatrixLayoutOpaque_t b{};
  cublasLtMatrixLayoutOpaque_t d{};
  cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatrixLayoutInit(&a, CUDA_R_32F, shape.m, shape.k, static_cast<std::int64_t>(shape.m));
  cublasLtMatrixLayoutInit(&b, CUDA_R_32F, shape.k, shape.n, static_cast<std::int64_t>(shape.k));
  cublasLtMatrixLayoutInit(&d, CUDA_R_32F, shape.m, shape.n, static_cast<std::int64_t>(shape.m));
  const cublasLtPointerMode_t mode = CUBLASLT_POINTER_MODE_DEVICE;
  EXPECT_EQ(
      cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode, sizeof mode),
      CUBLAS_STATUS_SUCCESS);
  cublasLtHandle_t handle = nullptr;
  ASSERT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtMatmul(handle, &desc, factors.get(), matrices.a.get(), &a, matrices.b.get(), &b,
                           factors.get() + 1, nullptr, &d, matrices.d.get(), &d, nullptr, nullptr,
                           0, nullptr),
            CUBLAS_STATUS_SUCCESS);
  expect_product(shape, matrices, 0.5);
  EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
}

TEST(Gemm, TimeIsThatOfTheArithmetic) {
  const GemmShape shape{CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, true, false, 512, 512, 512};
  const Matrices matrices(shape);
  const Gemm gemm(shape);
  const double s = seconds_of([&](cudaStream_t stream) {
    gemm.run(matrices.a.get(), matrices.b.get(), matrices.d.get(), stream);
  });
  expect_about(s, 3e-6 + 2.0 * 512 * 512 * 512 / (989e12 * 0.75 * 0.97));
}

TEST(Gemm, TooLittleWorkspaceIsRefused) {
  const Matrices matrices(kTypes[0]);
  const Gemm gemm(kTypes[0]);
  const auto greedy = gemm.algorithms(std::size_t{32} << 20)[1];
  ASSERT_GT(greedy.workspaceSize, 0U);
  EXPECT_EQ(gemm.run(matrices.a.get(), matrices.b.get(), matrices.d.get(), nullptr, &greedy.algo),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm.run(nullptr, matrices.b.get(), matrices.d.get(), nullptr),
            CUBLAS_STATUS_INVALID_VALUE);
}

}  // namespace

// An error of the device ends the process's context: a group of its own.
TEST(GemmOutside, ReadingBeyondAnAllocationIsAnIllegalAccess) {
  const DeviceArray<float> small(16);
  const DeviceArray<float> d(64 * 48);
  const Gemm gemm(kTypes[0]);
  EXPECT_EQ(gemm.run(small.get(), small.get(), d.get(), nullptr), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(gemm.run(small.get(), small.get(), d.get(), nullptr), CUBLAS_STATUS_EXECUTION_FAILED);
}

}  // namespace gpu_sim_test
