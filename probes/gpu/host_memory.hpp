// Memory of the host that a GPU copies from and to.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "probes/gpu/handles.hpp"
#include "probes/support/machine_topology.hpp"
#include "probes/support/pages.hpp"

namespace fleetbench::gpu {

// Pinned for DMA, on one NUMA node; zeroed. Throws std::system_error where there is not so much
// memory, CudaError where it may not be pinned (`ulimit -l` does not bind CUDA, a control group
// does).
class PinnedMemory {
 public:
  // `numa_node`: as the kernel counts; none: wherever the calling thread runs. Where it may not be
  // placed it lies there, too: MachineTopology::node_of() tells.
  PinnedMemory(const Gpu& gpu, std::size_t bytes, const MachineTopology& topology,
               std::optional<int> numa_node);
  std::byte* data() const { return pages_.data(); }
  std::size_t bytes() const { return pages_.size(); }

 private:
  struct Unregister {
    void operator()(std::byte* memory) const { cudaHostUnregister(memory); }
  };

  Pages pages_;
  std::unique_ptr<std::byte, Unregister> registered_;  // goes before the pages do
};

// A word that the GPU waits for (fleetbench_wait) and the host writes, so that work can be queued
// up before any of it runs.
class LaunchLatch {
 public:
  explicit LaunchLatch(const Gpu& gpu);
  // What is given to `stream` after this waits for release(). Throws CudaError.
  void hold(cudaStream_t stream);
  void release();
  // Throws std::runtime_error where the GPU gave up waiting: what was timed says nothing then.
  void require_held() const;

 private:
  const Gpu& gpu_;
  std::unique_ptr<void, FreeHost> words_;
  unsigned* latch_ = nullptr;
  unsigned* gave_up_ = nullptr;
};

}  // namespace fleetbench::gpu
