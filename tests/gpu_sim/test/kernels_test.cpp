// Each kernel's twin against what the host computes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "tests/gpu_sim/test/owners.hpp"

namespace gpu_sim_test {

namespace {

constexpr std::uint64_t kCount = 10'007;

TEST(Kernels, FillWritesMixedWords) {
  const DeviceArray<std::uint32_t> data(kCount);
  launch_fill(data.get(), kCount - 1, 7, nullptr);
  expect_success(cudaDeviceSynchronize());
  const auto values = data.values();
  for (std::uint64_t i = 0; i + 1 < kCount; ++i) {
    ASSERT_EQ(values[i], mixed_word(7, i)) << i;
  }
  EXPECT_EQ(values.back(), 0U);
}

TEST(Kernels, CheckCountsWrongWordsAndAddsThem) {
  const DeviceArray<std::uint32_t> data(kCount);
  launch_fill(data.get(), kCount, 7, nullptr);
  auto values = data.values();
  values[0] ^= 1U;
  values[kCount - 1] ^= 0x80000000U;
  const DeviceArray<std::uint32_t> damaged(values);
  const DeviceArray<unsigned long long> wrong(std::vector<unsigned long long>{5});
  launch_check(damaged.get(), kCount, 7, wrong.get(), nullptr);
  EXPECT_EQ(wrong.values()[0], 7U);
  launch_check(data.get(), kCount, 8, wrong.get(), nullptr);
  EXPECT_EQ(wrong.values()[0], 7U + kCount);
}

TEST(Kernels, ReadLeavesItsSinkAlone) {
  const DeviceArray<std::uint32_t> data(4 * kCount);
  launch_fill(data.get(), 4 * kCount, 3, nullptr);
  const DeviceArray<std::uint32_t> sink(std::vector<std::uint32_t>{9});
  launch_read(data.get(), kCount, sink.get(), nullptr);
  EXPECT_EQ(sink.values()[0], 9U);
}

TEST(Kernels, WriteAndCopy) {
  const DeviceArray<std::uint32_t> a(4 * kCount);
  const DeviceArray<std::uint32_t> b(4 * kCount);
  launch_write(a.get(), kCount - 1, 0xABCD1234, nullptr);
  launch_copy(b.get(), a.get(), kCount, nullptr);
  const auto values = b.values();
  EXPECT_EQ(values[0], 0xABCD1234U);
  EXPECT_EQ(values[4 * kCount - 5], 0xABCD1234U);
  EXPECT_EQ(values[4 * kCount - 4], 0U);
}

TEST(Kernels, TriadIsFused) {
  std::vector<float> x(4 * kCount);
  std::vector<float> y(4 * kCount);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(mixed_word(1, i)) * 1e-9F;
    y[i] = static_cast<float>(mixed_word(2, i)) * 1e-9F;
  }
  const DeviceArray<float> a(4 * kCount);
  const DeviceArray<float> b(x);
  const DeviceArray<float> c(y);
  launch_triad(a.get(), b.get(), c.get(), 0.3F, kCount, nullptr);
  const auto values = a.values();
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(values[i], std::fma(0.3F, y[i], x[i])) << i;
  }
}

struct Element {
  int type;
  std::size_t bytes;
  std::function<float(const std::byte*)> value;
  std::function<float(float)> rounded;
};

template <typename T>
Element element(int type) {
  return {type, sizeof(T),
          [](const std::byte* at) {
            T value;
            std::copy_n(at, sizeof(T), reinterpret_cast<std::byte*>(&value));
            return static_cast<float>(value);
          },
          [](float value) { return static_cast<float>(T(value)); }};
}

const std::array kElements{element<float>(0), element<__half>(1), element<__nv_bfloat16>(2),
                           element<__nv_fp8_e4m3>(3)};

TEST(Kernels, RandomMatrixOfEachType) {
  for (const Element& element : kElements) {
    const DeviceArray<std::byte> data(kCount * element.bytes);
    launch_random_matrix(data.get(), kCount, element.type, 11, nullptr);
    const auto values = data.values();
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const float exact = static_cast<float>(mixed_word(11, i) >> 8U) * 0x1p-23F - 1.0F;
      ASSERT_EQ(element.value(&values[i * element.bytes]), element.rounded(exact))
          << element.type << " " << i;
    }
  }
}

TEST(Kernels, IntegerMatrixOfEachType) {
  for (const Element& element : kElements) {
    const DeviceArray<std::byte> data(kCount * element.bytes);
    launch_integer_matrix(data.get(), kCount, element.type, 12, nullptr);
    const auto values = data.values();
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const std::uint32_t kind = mixed_word(12, i) % 8U;
      const float exact = kind == 0 ? -1.0F : kind == 1 ? 1.0F : 0.0F;
      ASSERT_EQ(element.value(&values[i * element.bytes]), exact) << element.type << " " << i;
    }
  }
}

TEST(Kernels, Checksum) {
  const DeviceArray<std::uint32_t> data(kCount);
  launch_fill(data.get(), kCount, 5, nullptr);
  unsigned long long expected = 1000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    expected += static_cast<unsigned long long>(mixed_word(0x5EED, i) | 1U) * mixed_word(5, i);
  }
  const DeviceArray<unsigned long long> sum(std::vector<unsigned long long>{1000});
  launch_checksum(data.get(), kCount, sum.get(), nullptr);
  EXPECT_EQ(sum.values()[0], expected);
}

TEST(Kernels, AListIsRepeatedAndLookedFor) {
  constexpr std::uint32_t kLength = 7;
  constexpr std::uint64_t kFirst = 12;
  const DeviceArray<std::uint32_t> list(std::vector<std::uint32_t>{3, 1, 4, 1, 5, 9, 2});
  const DeviceArray<std::uint32_t> data(kCount);
  launch_repeat(data.get(), kCount - 1, list.get(), kLength, kFirst, nullptr);
  auto values = data.values();
  for (std::uint64_t i = 0; i + 1 < kCount; ++i) {
    ASSERT_EQ(values[i], list.values()[(kFirst + i) % kLength]) << i;
  }
  EXPECT_EQ(values.back(), 0U);
  const DeviceArray<unsigned long long> wrong(std::vector<unsigned long long>{5, ~0ULL});
  launch_check_repeat(data.get(), kCount - 1, list.get(), kLength, kFirst, wrong.get(), nullptr);
  EXPECT_EQ(wrong.values(), (std::vector<unsigned long long>{5, ~0ULL}));
  values[4000] ^= 1U;
  values[4001] ^= 0x80000000U;
  const DeviceArray<std::uint32_t> damaged(values);
  launch_check_repeat(damaged.get(), kCount - 1, list.get(), kLength, kFirst, wrong.get(), nullptr);
  EXPECT_EQ(wrong.values(), (std::vector<unsigned long long>{7, 4000}));
}

TEST(Kernels, WaitEndsByItselfAndSaysSo) {
  const Stream stream;
  const Gate gate(stream, 200'000'000);
  EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
  EXPECT_FALSE(gate.gave_up());
  stream.finish();
  EXPECT_TRUE(gate.gave_up());
}

TEST(Kernels, WaitThatGaveUpDoesNotSeeALateRelease) {
  const Stream stream;
  const Mark mark;
  Gate gate(stream, 1'000'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  mark.record(stream);
  gate.release();
  stream.finish();
  EXPECT_TRUE(gate.gave_up());
}

TEST(Kernels, ResultsMayLieInPageLockedMemory) {
  const DeviceArray<std::uint32_t> data(kCount);
  launch_fill(data.get(), kCount, 7, nullptr);
  const PinnedArray<unsigned long long> wrong(1);
  wrong[0] = 0;
  launch_check(data.get(), kCount, 8, wrong.get(), nullptr);
  expect_success(cudaDeviceSynchronize());
  EXPECT_EQ(wrong[0], kCount);
}

}  // namespace

}  // namespace gpu_sim_test
