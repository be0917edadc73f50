// What the GPU probes compute on the host: no device is needed.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "probes/gpu/copy_timer.hpp"
#include "probes/gpu/exact_product.hpp"
#include "probes/gpu/matmul.hpp"
#include "probes/gpu/numa.hpp"
#include "probes/gpu/nvml/clock_event_reasons.hpp"

namespace fleetbench::gpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CopyRate, IsThatOfTheMedianSample) {
  EXPECT_DOUBLE_EQ(copy_rate({2.0, 1.0, 4.0}, 16, 1000), 8000);
  EXPECT_DOUBLE_EQ(copy_rate({2.0, 1.0}, 3, 500), 1000);
  // 512 MiB sixteen times in 160 ms
  EXPECT_NEAR(copy_rate({0.16}, 16, std::size_t{512} << 20U), 53.687e9, 1e6);
}

TEST(VersionText, IsAsCudaWritesIt) {
  EXPECT_EQ(version_text(13000), "13.0");
  EXPECT_EQ(version_text(12040), "12.4");
  EXPECT_EQ(version_text(0), "0.0");
}

TEST(Precisions, AreKnownByNameAndChip) {
  GpuInfo ampere{.compute_major = 8, .compute_minor = 0};
  GpuInfo ada{.compute_major = 8, .compute_minor = 9};
  EXPECT_TRUE(has(ampere, precision_named("bf16")));
  EXPECT_FALSE(has(ampere, precision_named("fp8")));
  EXPECT_TRUE(has(ada, precision_named("fp8")));
  EXPECT_THROW(precision_named("fp7"), std::invalid_argument);
}

TEST(Algorithm, SurvivesTheWayToAnotherProcess) {
  Algorithm algorithm{};
  for (std::size_t i = 0; i < std::size(algorithm.data); ++i) {
    algorithm.data[i] = 0xFEDCBA9876543210U * (i + 1);
  }
  const Algorithm back = algorithm_from_hex(to_hex(algorithm));
  EXPECT_EQ(std::memcmp(&algorithm, &back, sizeof algorithm), 0);
}

TEST(Algorithm, OtherTextsAreNone) {
  const std::string good = to_hex(Algorithm{});
  for (const std::string& text :
       {std::string(), good.substr(1), good + "0", "g" + good.substr(1)}) {
    EXPECT_THROW(algorithm_from_hex(text), std::invalid_argument) << text;
  }
}

TEST(ClockEventReasons, AreNamedAsNvidiaSmiDoes) {
  EXPECT_THAT(nvml::clock_event_reasons(0), IsEmpty());
  EXPECT_THAT(nvml::clock_event_reasons(0x1), IsEmpty()) << "an idle GPU's own reason";
  EXPECT_THAT(nvml::clock_event_reasons(0x4), ElementsAre("sw_power_cap"));
  EXPECT_THAT(nvml::clock_event_reasons(0x48), ElementsAre("hw_slowdown", "hw_thermal_slowdown"));
  EXPECT_THAT(nvml::clock_event_reasons(0x80), ElementsAre("hw_power_brake_slowdown"));
  EXPECT_THAT(nvml::clock_event_reasons(1ULL << 40U), ElementsAre("bit 40"));
}

TEST(SmallIntegers, KeepEverySumExactInEveryPrecision) {
  std::array<int, 3> counts{};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    ++counts.at(static_cast<std::size_t>(small_integer(5, i) + 1));
  }
  EXPECT_NEAR(counts[0], 12'500, 500);
  EXPECT_NEAR(counts[2], 12'500, 500);
}

class NumaTree : public testing::Test {
 protected:
  NumaTree() {
    std::filesystem::create_directories(folder());
    std::ofstream(folder() / "numa_node") << "1\n";
  }
  ~NumaTree() override { std::filesystem::remove_all(root_); }
  std::filesystem::path folder() const { return root_ / "sys/bus/pci/devices/0000:3b:00.0"; }
  NumaSides sides(const char* topology) const {
    return numa_sides({.pci_address = "0000:3b:00.0"}, MachineTopology(topology), HostFiles(root_));
  }

 private:
  std::filesystem::path root_ = testing::TempDir() + "/numa_tree";
};

TEST_F(NumaTree, TellsNearAndFar) {
  EXPECT_EQ(sides("node:2 core:2 pu:1").near, 1);
  EXPECT_EQ(sides("node:2 core:2 pu:1").far, 0);
  EXPECT_EQ(sides("node:8 core:2 pu:1").far, 7) << "a part of the other CPU";
}

TEST_F(NumaTree, WhatIsNotKnownIsAbsent) {
  EXPECT_EQ(sides("node:1 core:2 pu:1").near, std::nullopt) << "no cores of node 1 may be used";
  EXPECT_EQ(sides("node:1 core:2 pu:1").far, std::nullopt);
  std::ofstream(folder() / "numa_node") << "-1\n";
  EXPECT_EQ(sides("node:2 core:2 pu:1").near, std::nullopt);
}

// A product as a GPU would give it, in columns.
class Product {
 public:
  Product(const Precision& precision, int n) : precision_(precision), n_(n) {
    data_.resize(precision.output_bytes * static_cast<std::size_t>(n * n));
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < n; ++row) {
        set(row, column, static_cast<float>(sum(row, column)));
      }
    }
  }
  void set(int row, int column, float value) {
    std::byte* to =
        data_.data() + precision_.output_bytes * static_cast<std::size_t>(column * n_ + row);
    const __half half = __float2half_rn(value);
    const __nv_bfloat16 bfloat = __float2bfloat16_rn(value);
    const void* from = &value;
    if (precision_.output == CUDA_R_16F) {
      from = &half;
    } else if (precision_.output == CUDA_R_16BF) {
      from = &bfloat;
    }
    std::memcpy(to, from, precision_.output_bytes);
  }
  int sum(int row, int column) const {
    int total = 0;
    for (int k = 0; k < n_; ++k) {
      total += small_integer(1, static_cast<std::uint64_t>(row * n_ + k)) *
               small_integer(2, static_cast<std::uint64_t>(column * n_ + k));
    }
    return total;
  }
  std::optional<int> first_false() const { return first_false_row(precision_, data_, n_, 1, 2); }

 private:
  const Precision& precision_;
  int n_;
  std::vector<std::byte> data_;
};

class ExactProduct : public testing::TestWithParam<Precision> {};

TEST_P(ExactProduct, IsRightInEveryPrecision) {
  EXPECT_EQ(Product(GetParam(), 64).first_false(), std::nullopt);
}

TEST_P(ExactProduct, OneFalseElementNamesItsRow) {
  Product product(GetParam(), 64);
  product.set(17, 40, static_cast<float>(product.sum(17, 40) + 1));
  EXPECT_EQ(product.first_false(), 17);
}

TEST_P(ExactProduct, WhatIsNoIntegerIsFalse) {
  for (const float value :
       {0.5F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Product product(GetParam(), 64);
    product.set(3, 0, value);
    EXPECT_EQ(product.first_false(), 3) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, ExactProduct, testing::ValuesIn(kPrecisions),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace fleetbench::gpu
