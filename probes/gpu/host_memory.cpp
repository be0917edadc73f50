#include "probes/gpu/host_memory.hpp"

#include <cstring>
#include <stdexcept>

#include "probes/gpu/kernels.hpp"

namespace fleetbench::gpu {
namespace {

// Longer than the host ever needs to queue some copies.
constexpr std::uint64_t kLongestWait_ns = 20'000'000'000;

Pages placed(std::size_t bytes, const MachineTopology& topology, std::optional<int> numa_node) {
  Pages pages(bytes);
  if (numa_node) {
    topology.place(pages.bytes(), *numa_node);
  }
  std::memset(pages.data(), 0, pages.size());
  return pages;
}

}  // namespace

PinnedMemory::PinnedMemory(const Gpu& gpu, std::size_t bytes, const MachineTopology& topology,
                           std::optional<int> numa_node)
    : pages_(placed(bytes, topology, numa_node)) {
  gpu.check(cudaHostRegister(pages_.data(), pages_.size(), cudaHostRegisterPortable),
            "cudaHostRegister");
  registered_.reset(pages_.data());
}

LaunchLatch::LaunchLatch(const Gpu& gpu) : gpu_(gpu) {
  void* words = nullptr;
  gpu.check(cudaHostAlloc(&words, 2 * sizeof(unsigned), cudaHostAllocMapped), "cudaHostAlloc");
  words_.reset(words);
  latch_ = static_cast<unsigned*>(words);
  gave_up_ = latch_ + 1;
}

void LaunchLatch::hold(cudaStream_t stream) {
  __atomic_store_n(latch_, 0U, __ATOMIC_SEQ_CST);
  __atomic_store_n(gave_up_, 0U, __ATOMIC_SEQ_CST);
  gpu_.check(launch_wait(latch_, kLongestWait_ns, gave_up_, stream), "launch of fleetbench_wait");
}

void LaunchLatch::release() { __atomic_store_n(latch_, 1U, __ATOMIC_SEQ_CST); }

void LaunchLatch::require_held() const {
  if (__atomic_load_n(gave_up_, __ATOMIC_SEQ_CST) != 0) {
    throw std::runtime_error(gpu_.label() +
                             ": the host took too long to queue the work that was to be timed");
  }
}

}  // namespace fleetbench::gpu
