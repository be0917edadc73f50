// How scripts/gpu-check tells a right product from a false one: no device is needed.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "probes/gpu/precision.hpp"
#include "tests/gpu/error_bound.hpp"
#include "tests/gpu/reference.hpp"

namespace fleetbench::gpu {
namespace {

TEST(ErrorBound, IsThatOfTheFormula) {
  const Rounding plain{.input = 0, .sum = 0.001, .output = 0};
  EXPECT_DOUBLE_EQ(error_bound(plain, 50, 3, 1), 0.1 / 0.9 * 3);
  const Rounding inputs{.input = 0.01, .sum = 0.001, .output = 0};
  EXPECT_DOUBLE_EQ(error_bound(inputs, 40, 1, 0), 0.1 / 0.9);
  const Rounding output{.input = 0, .sum = 0, .output = 0.5};
  EXPECT_DOUBLE_EQ(error_bound(output, 40, 9, -4), 2);
}

TEST(ErrorBound, IsInfiniteWhereTheFormulaSaysNothing) {
  EXPECT_TRUE(std::isinf(error_bound(rounding_of("fp8"), 4096, 1, 1)));
  EXPECT_TRUE(std::isfinite(error_bound(rounding_of("fp8"), 4095, 1, 1)));
}

TEST(ErrorBound, IsKnownForEveryPrecisionAndSharperForFinerOnes) {
  std::vector<double> bounds;
  for (const Precision& precision : kPrecisions) {
    bounds.push_back(error_bound(rounding_of(precision.name), 128, 1, 0.3));
  }
  const auto [fp32, tf32, fp16, bf16, fp8] =
      std::tuple(bounds.at(0), bounds.at(1), bounds.at(2), bounds.at(3), bounds.at(4));
  EXPECT_LT(fp32, fp16);
  EXPECT_LT(fp16, bf16);
  EXPECT_LT(bf16, tf32);
  EXPECT_LT(tf32, fp8);
  EXPECT_THROW(rounding_of("fp7"), std::invalid_argument);
}

// Sums in fp32, one after the other, of numbers that make the most of each rounding.
TEST(ErrorBound, HoldsForSumsInFp32) {
  float sum = 0;
  double exact = 0;
  double squares = 0;
  for (int i = 0; i < 1000; ++i) {
    const float x = 1.0F + static_cast<float>(i) * 0x1p-23F;
    sum += x * x;
    exact += static_cast<double>(x) * x;
    squares += static_cast<double>(x) * x;
  }
  const double error = std::abs(sum - exact);
  EXPECT_GT(error, 0);
  EXPECT_LT(error, error_bound(rounding_of("fp32"), 1000, squares, exact));
}

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(T));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

// Every number of a format, as NVIDIA's own conversion has it.
template <typename T, typename Convert>
void expect_reads_all(cudaDataType_t type, Convert converted) {
  constexpr int kNumbers = 1 << (8 * sizeof(T));
  for (int bits = 0; bits < kNumbers; ++bits) {
    const HostMatrix matrix(1, type, bytes_of<T>({static_cast<T>(bits)}));
    const double expected = converted(static_cast<T>(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(matrix.at(0, 0))) << bits;
    } else {
      ASSERT_EQ(matrix.at(0, 0), expected) << bits;
    }
  }
}

TEST(HostMatrix, ReadsEveryNumberOfTheSmallFormats) {
  expect_reads_all<std::uint16_t>(
      CUDA_R_16F, [](std::uint16_t bits) { return __half2float(__half(__half_raw{bits})); });
  expect_reads_all<std::uint16_t>(CUDA_R_16BF, [](std::uint16_t bits) {
    return __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{bits}));
  });
  expect_reads_all<std::uint8_t>(CUDA_R_8F_E4M3, [](std::uint8_t bits) {
    __nv_fp8_e4m3 number;
    number.__x = bits;
    return static_cast<float>(number);
  });
}

TEST(HostMatrix, ReadsFp32) {
  for (const float value : {0.0F, -1.5F, 3.4e38F, 1e-44F, std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(HostMatrix(1, CUDA_R_32F, bytes_of<float>({value})).at(0, 0), value);
  }
}

TEST(HostMatrix, RefusesWhatItCannotRead) {
  EXPECT_THROW(HostMatrix(2, CUDA_R_32F, bytes_of<float>({1, 2, 3})), std::invalid_argument);
  EXPECT_THROW(HostMatrix(1, CUDA_R_64F, bytes_of<double>({1})), std::invalid_argument);
}

TEST(HostMatrix, MultipliesTheFirstTransposed) {
  const HostMatrix a(2, CUDA_R_32F, bytes_of<float>({1, 2, 3, 4}));  // columns (1, 2), (3, 4)
  const HostMatrix b(2, CUDA_R_32F, bytes_of<float>({5, 6, 7, 8}));
  const HostMatrix product = transposed_product(a, b);
  EXPECT_EQ(product.at(0, 0), 17);
  EXPECT_EQ(product.at(1, 0), 39);
  EXPECT_EQ(product.at(0, 1), 23);
  EXPECT_EQ(product.at(1, 1), 53);
  EXPECT_THAT(column_norms(a),
              testing::ElementsAre(testing::DoubleEq(std::sqrt(5)), testing::DoubleEq(5)));
}

TEST(HostMatrix, MultipliesColumnsOfAnyLength) {
  for (const int n : {1, 3, 5, 17}) {
    HostMatrix ones(n);
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < n; ++row) {
        ones.at(row, column) = 1;
      }
    }
    EXPECT_EQ(transposed_product(ones, ones).at(n - 1, 0), n);
  }
}

// A 16 × 16 product in each precision, as a GPU that makes no error gives it.
class FarthestElement : public testing::TestWithParam<Precision> {
 protected:
  static HostMatrix numbers(int seed) {
    HostMatrix matrix(kN);
    for (int i = 0; i < kN * kN; ++i) {
      matrix.at(static_cast<std::size_t>(i % kN), static_cast<std::size_t>(i / kN)) =
          std::sin(static_cast<double>(seed * i + 1));
    }
    return matrix;
  }
  static constexpr int kN = 16;
  Reference reference_ = reference_of(GetParam().name, numbers(3), numbers(5));
  HostMatrix found_ = reference_.exact;
};

TEST_P(FarthestElement, OfAnExactProductIsRight) {
  EXPECT_EQ(farthest(found_, reference_).error_of_bound, 0);
  EXPECT_GT(sharpness(reference_), 0);
  EXPECT_LT(sharpness(reference_), 0.2);
}

TEST_P(FarthestElement, IsTheFalseOne) {
  found_.at(7, 2) += 0.9 * reference_.bounds.at(7, 2);
  EXPECT_NEAR(farthest(found_, reference_).error_of_bound, 0.9, 1e-6);
  found_.at(11, 5) -= 1.1 * reference_.bounds.at(11, 5);
  const Farthest worst = farthest(found_, reference_);
  EXPECT_NEAR(worst.error_of_bound, 1.1, 1e-6);
  EXPECT_EQ(worst.row, 11);
  EXPECT_EQ(worst.column, 5);
}

TEST_P(FarthestElement, IsTheOneThatIsNoNumber) {
  found_.at(3, 4) = std::numeric_limits<double>::quiet_NaN();
  found_.at(9, 9) += 100;
  const Farthest worst = farthest(found_, reference_);
  EXPECT_TRUE(std::isnan(worst.error_of_bound));
  EXPECT_EQ(worst.row, 3);
  found_.at(3, 4) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isinf(farthest(found_, reference_).error_of_bound));
}

TEST_P(FarthestElement, OfTheProductTheOtherWayRoundIsFalse) {
  const HostMatrix other = transposed_product(numbers(5), numbers(3));
  EXPECT_GT(farthest(other, reference_).error_of_bound, 10);
}

INSTANTIATE_TEST_SUITE_P(Precisions, FarthestElement, testing::ValuesIn(kPrecisions),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace fleetbench::gpu
