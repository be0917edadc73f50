// Which cores, caches and NUMA nodes this process may use, and where its memory lies, by hwloc.
#pragma once

#include <hwloc.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fleetbench {

struct NumaNode {
  int index = 0;          // as the kernel counts: /sys/devices/system/node/nodeINDEX
  std::vector<int> cpus;  // one hardware thread of each core that is near it and usable
};

// A picture taken when it is constructed. Const functions may be called from several threads.
class MachineTopology {
 public:
  // This machine, as far as this process's cpuset and affinity allow. Throws std::runtime_error
  // where hwloc cannot tell.
  MachineTopology();
  // One that hwloc makes from a description like "node:2 l3:1(size=32MB) core:4 pu:2", all of it
  // usable: for tests. To bind threads or ask where memory lies is meaningless there.
  explicit MachineTopology(const std::string& synthetic);

  // The NUMA nodes that have usable cores, by index; at least one. Memory without cores of its own
  // (CXL, the HBM of some CPUs) is not among them. A core near two nodes counts for the lower
  // index.
  const std::vector<NumaNode>& numa_nodes() const { return nodes_; }
  // All their cpus, node after node.
  std::vector<int> cpus() const;

  // Sum of the last-level caches (L3, or L2 where there is no L3 …) of the usable cores, in bytes;
  // 0 where no cache is known. A virtual machine may show its host's.
  std::int64_t last_cache_bytes() const;

  // The calling thread runs only on this hardware thread from now on. Throws std::system_error.
  void bind_this_thread(int cpu) const;
  // The calling thread's pages go to the NUMA node of the core that first writes them, whatever
  // policy was inherited (`numactl --interleave`). Where that may not be set (a container), nothing
  // happens: it is the kernel's default.
  void place_pages_at_first_touch() const;
  // Pages of this memory that nobody has written yet will lie on NUMA node `index` (as the kernel
  // counts). False where that may not be said (a container): they lie where they are first written.
  bool place(std::span<std::byte> memory, int index) const;
  // On which NUMA node the page of this address lies; `nullopt` where that cannot be told: never
  // written yet, or the kernel refuses to say.
  std::optional<int> node_of(const std::byte* address) const;

 private:
  struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
  };
  struct Free {
    void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
  };
  using Bitmap = std::unique_ptr<hwloc_bitmap_s, Free>;

  void load();
  void find_nodes();

  std::unique_ptr<hwloc_topology, Destroy> topology_;
  Bitmap usable_;
  std::vector<NumaNode> nodes_;
};

}  // namespace fleetbench
