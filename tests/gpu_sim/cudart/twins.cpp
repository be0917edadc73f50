#include "tests/gpu_sim/cudart/twins.hpp"

#include <vector_types.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/gpu_sim/cudart/mixing.hpp"

namespace gpu_sim {

namespace {

using Words = std::uint32_t*;
using Total = unsigned long long*;

template <typename T>
T argument(const Launch& launch, int number) {
  T value;
  std::memcpy(&value, launch.arguments[number], sizeof value);
  return value;
}

KernelWork wait(const Launch& launch) {
  using Clock = std::chrono::steady_clock;
  const auto latch = argument<Words>(launch, 0);
  const auto longest_ns = argument<std::uint64_t>(launch, 1);
  const auto gave_up = argument<Words>(launch, 2);
  const Clock::time_point begin = Clock::now();
  KernelWork work;
  work.end = [=](const Reach& reach, double begin_ns, double host_ns) -> std::optional<double> {
    // The host may write while this reads.
    if (__atomic_load_n(reach(latch, 1), __ATOMIC_ACQUIRE) != 0) {
      return std::max(begin_ns, host_ns);
    }
    if (Clock::now() - begin <= std::chrono::nanoseconds(longest_ns)) {
      return std::nullopt;
    }
    __atomic_store_n(reach(gave_up, 1), 1U, __ATOMIC_RELEASE);
    return begin_ns + static_cast<double>(longest_ns);
  };
  return work;
}

KernelWork fill(const Launch& launch) {
  const auto data = argument<Words>(launch, 0);
  const auto count = argument<std::uint64_t>(launch, 1);
  const auto seed = argument<std::uint32_t>(launch, 2);
  const auto words = static_cast<double>(count);
  return {4 * words,
          words,
          [=](const Reach& reach) {
            const Words to = reach(data, count);
            for (std::uint64_t i = 0; i < count; ++i) {
              to[i] = mixed(seed, i);
            }
          },
          {}};
}

KernelWork check(const Launch& launch) {
  const auto data = argument<Words>(launch, 0);
  const auto count = argument<std::uint64_t>(launch, 1);
  const auto seed = argument<std::uint32_t>(launch, 2);
  const auto wrong = argument<Total>(launch, 3);
  const auto words = static_cast<double>(count);
  return {4 * words,
          words,
          [=](const Reach& reach) {
            const Words from = reach(data, count);
            unsigned long long found = 0;
            for (std::uint64_t i = 0; i < count; ++i) {
              found += from[i] != mixed(seed, i) ? 1U : 0U;
            }
            *reach(wrong, 1) += found;
          },
          {}};
}

KernelWork read(const Launch& launch) {
  const auto data = argument<uint4*>(launch, 0);
  const auto count = argument<std::uint64_t>(launch, 1);
  const auto sink = argument<Words>(launch, 2);
  const std::uint64_t threads = std::min(launch.threads, count);
  return {16 * static_cast<double>(count),
          0,
          [=](const Reach& reach) {
            const uint4* from = reach(data, count);
            std::vector<std::uint32_t> of_thread(threads, 0);
            for (std::uint64_t i = 0; i < count; ++i) {
              of_thread[i % threads] ^= from[i].x ^ from[i].y ^ from[i].z ^ from[i].w;
            }
            for (const std::uint32_t all : of_thread) {
              if (all == ~std::uint32_t{0}) {
                *reach(sink, 1) = all;
              }
            }
          },
          {}};
}

KernelWork write(const Launch& launch) {
  const auto data = argument<uint4*>(launch, 0);
  const auto count = argument<std::uint64_t>(launch, 1);
  const auto value = argument<std::uint32_t>(launch, 2);
  return {16 * static_cast<double>(count),
          0,
          [=](const Reach& reach) {
            std::fill_n(reach(data, count), count, uint4{value, value, value, value});
          },
          {}};
}

KernelWork copy(const Launch& launch) {
  const auto to = argument<uint4*>(launch, 0);
  const auto from = argument<const uint4*>(launch, 1);
  const auto count = argument<std::uint64_t>(launch, 2);
  return {32 * static_cast<double>(count),
          0,
          [=](const Reach& reach) {
            std::memmove(reach(to, count), reach(from, count), count * sizeof(uint4));
          },
          {}};
}

// Fused, as the GPU's compiler makes it of a product and a sum.
float4 fused(float factor, const float4& y, const float4& x) {
  return {std::fma(factor, y.x, x.x), std::fma(factor, y.y, x.y), std::fma(factor, y.z, x.z),
          std::fma(factor, y.w, x.w)};
}

KernelWork triad(const Launch& launch) {
  const auto a = argument<float4*>(launch, 0);
  const auto b = argument<const float4*>(launch, 1);
  const auto c = argument<const float4*>(launch, 2);
  const auto factor = argument<float>(launch, 3);
  const auto count = argument<std::uint64_t>(launch, 4);
  return {48 * static_cast<double>(count),
          0,
          [=](const Reach& reach) {
            float4* to = reach(a, count);
            const float4* x = reach(b, count);
            const float4* y = reach(c, count);
            for (std::uint64_t i = 0; i < count; ++i) {
              to[i] = fused(factor, y[i], x[i]);
            }
          },
          {}};
}

template <typename Element>
KernelWork matrix(const Launch& launch, Element element) {
  const auto data = argument<char*>(launch, 0);
  const auto count = argument<std::uint64_t>(launch, 1);
  const auto type = argument<int>(launch, 2);
  const auto seed = argument<std::uint32_t>(launch, 3);
  const auto elements = static_cast<double>(count);
  return {elements * static_cast<double>(element_bytes(type)),
          elements,
          [=](const Reach& reach) {
            void* to = reach(data, count * element_bytes(type));
            for (std::uint64_t i = 0; i < count; ++i) {
              put_element(to, i, type, element(mixed(seed, i)));
            }
          },
          {}};
}

KernelWork random_matrix(const Launch& launch) {
  return matrix(launch, [](std::uint32_t word) {
    return std::ldexp(static_cast<float>(word >> 8U), -23) - 1.0F;
  });
}

KernelWork integer_matrix(const Launch& launch) {
  return matrix(launch, [](std::uint32_t word) {
    const std::uint32_t kind = word % 8U;
    return kind == 0 ? -1.0F : kind == 1 ? 1.0F : 0.0F;
  });
}

KernelWork checksum(const Launch& launch) {
  const auto data = argument<Words>(launch, 0);
  const auto count = argument<std::uint64_t>(launch, 1);
  const auto sum = argument<Total>(launch, 2);
  const auto words = static_cast<double>(count);
  return {4 * words,
          words,
          [=](const Reach& reach) {
            const Words from = reach(data, count);
            unsigned long long all = 0;
            for (std::uint64_t i = 0; i < count; ++i) {
              all += static_cast<unsigned long long>(mixed(0x5EED, i) | 1U) * from[i];
            }
            *reach(sum, 1) += all;
          },
          {}};
}

KernelWork repeat(const Launch& launch) {
  const auto data = argument<Words>(launch, 0);
  const auto count = argument<std::uint64_t>(launch, 1);
  const auto list = argument<Words>(launch, 2);
  const auto length = argument<std::uint32_t>(launch, 3);
  const auto first = argument<std::uint64_t>(launch, 4);
  const auto words = static_cast<double>(count);
  return {4 * words,
          words,
          [=](const Reach& reach) {
            const Words to = reach(data, count);
            const Words from = reach(list, length);
            for (std::uint64_t i = 0; i < count; ++i) {
              to[i] = from[(first + i) % length];
            }
          },
          {}};
}

KernelWork check_repeat(const Launch& launch) {
  const auto data = argument<Words>(launch, 0);
  const auto count = argument<std::uint64_t>(launch, 1);
  const auto list = argument<Words>(launch, 2);
  const auto length = argument<std::uint32_t>(launch, 3);
  const auto first = argument<std::uint64_t>(launch, 4);
  const auto wrong = argument<Total>(launch, 5);
  const auto words = static_cast<double>(count);
  return {4 * words,
          words,
          [=](const Reach& reach) {
            const Words from = reach(data, count);
            const Words expected = reach(list, length);
            const Total found = reach(wrong, 2);
            for (std::uint64_t i = 0; i < count; ++i) {
              if (from[i] != expected[(first + i) % length]) {
                found[0] += 1;
                found[1] = std::min<unsigned long long>(found[1], i);
              }
            }
          },
          {}};
}

struct Named {
  std::string_view name;
  Twin twin;
};

constexpr std::array kTwins{Named{"fleetbench_wait", wait},
                            Named{"fleetbench_fill", fill},
                            Named{"fleetbench_check", check},
                            Named{"fleetbench_repeat", repeat},
                            Named{"fleetbench_check_repeat", check_repeat},
                            Named{"fleetbench_read", read},
                            Named{"fleetbench_write", write},
                            Named{"fleetbench_copy", copy},
                            Named{"fleetbench_triad", triad},
                            Named{"fleetbench_random_matrix", random_matrix},
                            Named{"fleetbench_integer_matrix", integer_matrix},
                            Named{"fleetbench_checksum", checksum}};

}  // namespace

Twin twin_of(std::string_view kernel) {
  for (const Named& named : kTwins) {
    if (named.name == kernel) {
      return named.twin;
    }
  }
  return nullptr;
}

}  // namespace gpu_sim
