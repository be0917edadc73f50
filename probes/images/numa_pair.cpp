#include "probes/images/numa_pair.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace fleetbench::images {
namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Bitmap empty_bitmap() { return Bitmap(hwloc_bitmap_alloc()); }

// CPUs of this process; in a topology of which this machine knows nothing, all.
Bitmap usable_cpus(hwloc_topology_t topology) {
  Bitmap cpus = empty_bitmap();
  if (hwloc_topology_is_thissystem(topology) == 0 ||
      hwloc_get_cpubind(topology, cpus.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(cpus.get(), hwloc_topology_get_allowed_cpuset(topology));
  }
  return cpus;
}

int usable_cores_in(hwloc_topology_t topology, hwloc_const_cpuset_t within) {
  int cores = 0;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr;) {
    cores += hwloc_bitmap_intersects(core->cpuset, within);
  }
  return cores;
}

[[noreturn]] void fail(const char* what, int node) {
  throw std::runtime_error(
      fmt::format("binding {} to NUMA node {}: {}", what, node, std::strerror(errno)));
}

}  // namespace

std::optional<NumaPair> NumaPair::find(const std::string& synthetic) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) {
    return std::nullopt;
  }
  const Topology topology(made, hwloc_topology_destroy);
  if ((!synthetic.empty() && hwloc_topology_set_synthetic(made, synthetic.c_str()) != 0) ||
      hwloc_topology_load(made) != 0) {
    return std::nullopt;
  }
  const Bitmap usable = usable_cpus(made);
  hwloc_obj_t near = nullptr;
  hwloc_obj_t far = nullptr;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(made, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    if (near == nullptr && hwloc_bitmap_intersects(node->cpuset, usable.get())) {
      near = node;
    } else if (node->attr->numanode.local_memory > 0) {
      far = node;
    }
  }
  if (near == nullptr || far == nullptr) {
    return std::nullopt;
  }
  const Bitmap within = empty_bitmap();
  hwloc_bitmap_and(within.get(), near->cpuset, usable.get());
  NumaPair pair(topology, static_cast<int>(near->os_index), static_cast<int>(far->os_index),
                usable_cores_in(made, within.get()));
  return pair.can_bind() ? std::optional(pair) : std::nullopt;
}

// Containers often forbid it, and only trying tells.
bool NumaPair::can_bind() const {
  if (hwloc_topology_is_thissystem(topology_.get()) == 0) {
    return true;
  }
  bool can = true;
  std::thread([&] {
    try {
      bind_this_thread(true);
    } catch (const std::runtime_error&) {
      can = false;
    }
  }).join();
  return can;
}

void NumaPair::bind_this_thread(bool to_far_memory) const {
  const hwloc_obj_t cores =
      hwloc_get_numanode_obj_by_os_index(topology_.get(), static_cast<unsigned>(near_));
  const Bitmap cpus = usable_cpus(topology_.get());
  hwloc_bitmap_and(cpus.get(), cpus.get(), cores->cpuset);
  if (hwloc_set_cpubind(topology_.get(), cpus.get(), HWLOC_CPUBIND_THREAD) != 0) {
    fail("a thread", near_);
  }
  const int memory_node = to_far_memory ? far_ : near_;
  const hwloc_obj_t memory =
      hwloc_get_numanode_obj_by_os_index(topology_.get(), static_cast<unsigned>(memory_node));
  if (hwloc_set_membind(topology_.get(), memory->nodeset, HWLOC_MEMBIND_BIND,
                        HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_BYNODESET) !=
      0) {
    fail("memory", memory_node);
  }
}

}  // namespace fleetbench::images
