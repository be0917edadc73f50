#include "probes/memory/memory_arrays.hpp"

#include <fmt/format.h>

#include "probes/memory/memory_kernels.hpp"
#include "probes/memory/memory_pattern.hpp"
#include "probes/probe.hpp"
#include "probes/support/team_time.hpp"

namespace fleetbench {
namespace {

// Slices are whole blocks: each holds the same values, so that every sum is known beforehand. Two
// pages of 4 KiB.
constexpr std::size_t kBlock = 1024;
constexpr double kBlockSum = kBlock * (kBlock - 1) / 2.0;  // 0 + 1 + … + 1023
constexpr double kTriadBlockSum = (1 + memory_kernels::kTriadFactor) * kBlockSum;
constexpr std::array<char, 3> kNames{'a', 'b', 'c'};
constexpr int kA = 0;
constexpr int kB = 1;
constexpr int kC = 2;
static_assert(kBlock % memory_kernels::kReadBlock == 0);

// The k-th of `parts` nearly equal parts, in whole blocks.
Slice part_of(const Slice& whole, std::size_t k, std::size_t parts) {
  const std::size_t blocks = whole.count / kBlock;
  const std::size_t begin = blocks * k / parts;
  const std::size_t end = blocks * (k + 1) / parts;
  return {.first = whole.first + begin * kBlock, .count = (end - begin) * kBlock};
}

std::size_t slice_elements(std::size_t array_bytes, std::size_t threads) {
  const std::size_t block_bytes = threads * kBlock * sizeof(double);
  return std::max<std::size_t>(1, (array_bytes + block_bytes - 1) / block_bytes) * kBlock;
}

}  // namespace

MemoryArrays::MemoryArrays(const MachineTopology& topology, std::size_t array_bytes)
    : topology_(topology),
      members_(members_of(topology)),
      slice_elements_(slice_elements(array_bytes, members_.size())),
      arrays_{Pages(slice_elements_ * members_.size() * sizeof(double)),
              Pages(slice_elements_ * members_.size() * sizeof(double)),
              Pages(slice_elements_ * members_.size() * sizeof(double))},
      a_block_sum_(kBlockSum),
      team_(static_cast<int>(members_.size()), [this](int thread) {
        topology_.bind_this_thread(members_[static_cast<std::size_t>(thread)].cpu);
        topology_.place_pages_at_first_touch();
      }) {}

std::vector<MemoryArrays::Member> MemoryArrays::members_of(const MachineTopology& topology) {
  std::vector<Member> members;
  for (std::size_t node = 0; node < topology.numa_nodes().size(); ++node) {
    for (const int cpu : topology.numa_nodes()[node].cpus) {
      members.push_back({.node = node, .cpu = cpu});
    }
  }
  return members;
}

Slice MemoryArrays::slice_of(int thread) const {
  return {.first = static_cast<std::size_t>(thread) * slice_elements_, .count = slice_elements_};
}

Slice MemoryArrays::region_of(std::size_t node) const {
  Slice region;
  for (std::size_t thread = members_.size(); thread-- > 0;) {
    if (members_[thread].node == node) {
      region.first = thread * slice_elements_;
      region.count += slice_elements_;
    }
  }
  return region;
}

std::size_t MemoryArrays::region_bytes(std::size_t node) const {
  return region_of(node).count * sizeof(double);
}

std::string MemoryArrays::home_of(const Slice& slice) const {
  const Member& member = members_[slice.first / slice_elements_];
  return fmt::format("CPU {} of NUMA node {}", member.cpu,
                     topology_.numa_nodes()[member.node].index);
}

double* MemoryArrays::at(int array, const Slice& slice) const {
  return arrays_[static_cast<std::size_t>(array)].as<double>().data() + slice.first;
}

void MemoryArrays::check(int rounds) {
  team_.run([&](int thread) { check_own(thread, rounds); });
}

void MemoryArrays::check_own(int thread, int rounds) {
  const Slice slice = slice_of(thread);
  const auto words = [&](std::size_t array) {
    return arrays_[array].as<std::uint64_t>().subspan(slice.first, slice.count);
  };
  for (int step = 0; step < 2 * rounds; ++step) {
    const MemoryPattern pattern{.round = static_cast<std::uint64_t>(step / 2),
                                .complement = step % 2 == 1};
    for (std::size_t array = 0; array < arrays_.size(); ++array) {
      write_pattern(pattern, words(array), slice.first);
    }
    // Only now: three slices written in between have driven the first out of the caches.
    for (std::size_t array = 0; array < arrays_.size(); ++array) {
      if (const auto word = first_false_word(pattern, words(array), slice.first)) {
        throw WrongResult(fmt::format(
            "memory does not keep what is written to it: array {}, written and read by {}, {}",
            kNames[array], home_of(slice), describe(*word)));
      }
    }
  }
}

void MemoryArrays::fill() {
  team_.run([this](int thread) {
    const Slice slice = slice_of(thread);
    for (int array = kA; array <= kC; ++array) {
      double* values = at(array, slice);
      for (std::size_t i = 0; i < slice.count; ++i) {
        values[i] = static_cast<double>(i % kBlock);
      }
    }
  });
  a_block_sum_ = kBlockSum;
}

std::vector<double> MemoryArrays::time(MemoryKernel kernel, std::int64_t iterations,
                                       int repetitions) {
  auto times =
      time_together(team_, repetitions, [&](int thread) { run_own(thread, kernel, iterations); });
  if (kernel == MemoryKernel::triad) {
    a_block_sum_ = kTriadBlockSum;
  }
  return times;
}

void MemoryArrays::run_own(int thread, MemoryKernel kernel, std::int64_t iterations) const {
  const Slice slice = slice_of(thread);
  double* a = at(kA, slice);
  double* b = at(kB, slice);
  double* c = at(kC, slice);
  if (kernel == MemoryKernel::read) {
    read_slice(kA, slice, a_block_sum_, iterations);
    return;
  }
  for (std::int64_t i = 0; i < iterations; ++i) {
    if (kernel == MemoryKernel::copy) {
      memory_kernels::copy(c, b, slice.count);
    } else {
      memory_kernels::triad(a, b, c, slice.count);
    }
  }
}

std::vector<double> MemoryArrays::time_read_across(std::size_t reader, std::size_t owner,
                                                   int repetitions) {
  const Slice region = region_of(owner);
  const std::size_t readers = topology_.numa_nodes()[reader].cpus.size();
  const std::size_t first = region_of(reader).first / slice_elements_;
  const TeamPart part{.first = static_cast<int>(first), .count = static_cast<int>(readers)};
  return time_together(team_, part, repetitions, [&](int thread) {
    const std::size_t place = static_cast<std::size_t>(thread) - first;
    read_slice(kA, part_of(region, place, readers), a_block_sum_, 1);
  });
}

void MemoryArrays::check_sums() {
  team_.run([this](int thread) {
    read_slice(kA, slice_of(thread), a_block_sum_, 1);
    read_slice(kC, slice_of(thread), kBlockSum, 1);
  });
}

void MemoryArrays::read_slice(int array, const Slice& slice, double block_sum,
                              std::int64_t iterations) const {
  const double expected = block_sum * static_cast<double>(slice.count / kBlock);
  for (std::int64_t i = 0; i < iterations; ++i) {
    const double sum = memory_kernels::read(at(array, slice), slice.count);
    if (sum != expected) {
      throw WrongResult(fmt::format(
          "the sum of {} integers of array {}, first written by {}, is {} and not {}: memory or a "
          "core computes wrong "
          "results",
          slice.count, kNames[static_cast<std::size_t>(array)], home_of(slice), sum, expected));
    }
  }
}

std::optional<double> MemoryArrays::misplaced_share() const {
  constexpr std::size_t kSamples = 4;  // of each slice and array; a call of the kernel each
  std::size_t seen = 0;
  std::size_t elsewhere = 0;
  for (std::size_t thread = 0; thread < members_.size(); ++thread) {
    const Slice slice = slice_of(static_cast<int>(thread));
    for (int array = kA; array <= kC; ++array) {
      for (std::size_t k = 0; k < kSamples; ++k) {
        const double* element = at(array, slice) + slice.count * (2 * k + 1) / (2 * kSamples);
        const auto node = topology_.node_of(reinterpret_cast<const std::byte*>(element));
        seen += node.has_value();
        elsewhere += node && *node != topology_.numa_nodes()[members_[thread].node].index;
      }
    }
  }
  return seen == 0 ? std::nullopt
                   : std::optional(static_cast<double>(elsewhere) / static_cast<double>(seen));
}

}  // namespace fleetbench
