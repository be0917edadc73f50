#include "probes/support/machine_topology.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>

namespace fleetbench {
namespace {

hwloc_topology_t new_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) {
    throw std::runtime_error("hwloc cannot be started");
  }
  return topology;
}

// Cores, or hardware threads where hwloc knows no cores.
hwloc_obj_type_t core_type(hwloc_topology_t topology) {
  return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

// The outermost cache above a core that holds data; null where there is none.
hwloc_obj_t last_cache_above(hwloc_obj_t core) {
  hwloc_obj_t last = nullptr;
  for (hwloc_obj_t object = core; object != nullptr; object = object->parent) {
    if (hwloc_obj_type_is_dcache(object->type)) {
      last = object;
    }
  }
  return last;
}

}  // namespace

MachineTopology::MachineTopology() : topology_(new_topology()), usable_(hwloc_bitmap_alloc()) {
  load();
  if (hwloc_get_cpubind(topology_.get(), usable_.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(usable_.get(), hwloc_topology_get_allowed_cpuset(topology_.get()));
  }
  find_nodes();
}

MachineTopology::MachineTopology(const std::string& synthetic)
    : topology_(new_topology()), usable_(hwloc_bitmap_alloc()) {
  if (hwloc_topology_set_synthetic(topology_.get(), synthetic.c_str()) != 0) {
    throw std::runtime_error("\"" + synthetic + "\" is no topology that hwloc understands");
  }
  load();
  hwloc_bitmap_copy(usable_.get(), hwloc_topology_get_allowed_cpuset(topology_.get()));
  find_nodes();
}

void MachineTopology::load() {
  if (hwloc_topology_load(topology_.get()) != 0) {
    throw std::runtime_error("hwloc cannot read the topology of this machine from /sys");
  }
}

void MachineTopology::find_nodes() {
  std::map<int, NumaNode> found;
  const hwloc_obj_type_t type = core_type(topology_.get());
  hwloc_obj_t core = nullptr;
  const Bitmap of_core(hwloc_bitmap_alloc());
  while ((core = hwloc_get_next_obj_by_type(topology_.get(), type, core)) != nullptr) {
    hwloc_bitmap_and(of_core.get(), core->cpuset, usable_.get());
    const int cpu = hwloc_bitmap_first(of_core.get());
    if (cpu >= 0) {
      const int index = std::max(0, hwloc_bitmap_first(core->nodeset));
      found[index].index = index;
      found[index].cpus.push_back(cpu);
    }
  }
  for (auto& [index, node] : found) {
    nodes_.push_back(std::move(node));
  }
  if (nodes_.empty()) {
    throw std::runtime_error("hwloc finds no core that this process may use");
  }
}

std::vector<int> MachineTopology::cpus() const {
  std::vector<int> all;
  for (const NumaNode& node : nodes_) {
    all.insert(all.end(), node.cpus.begin(), node.cpus.end());
  }
  return all;
}

std::int64_t MachineTopology::last_cache_bytes() const {
  std::set<hwloc_obj_t> caches;
  for (const int cpu : cpus()) {
    hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(topology_.get(), static_cast<unsigned>(cpu));
    if (hwloc_obj_t cache = last_cache_above(unit)) {
      caches.insert(cache);
    }
  }
  std::int64_t sum = 0;
  for (const hwloc_obj_t cache : caches) {
    sum += static_cast<std::int64_t>(cache->attr->cache.size);
  }
  return sum;
}

void MachineTopology::bind_this_thread(int cpu) const {
  const Bitmap one(hwloc_bitmap_alloc());
  hwloc_bitmap_only(one.get(), static_cast<unsigned>(cpu));
  if (hwloc_set_cpubind(topology_.get(), one.get(), HWLOC_CPUBIND_THREAD) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "binding a thread to CPU " + std::to_string(cpu));
  }
}

void MachineTopology::place_pages_at_first_touch() const {
  hwloc_set_membind(topology_.get(), hwloc_topology_get_topology_nodeset(topology_.get()),
                    HWLOC_MEMBIND_FIRSTTOUCH, HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET);
}

bool MachineTopology::place(std::span<std::byte> memory, int index) const {
  const Bitmap where(hwloc_bitmap_alloc());
  hwloc_bitmap_only(where.get(), static_cast<unsigned>(index));
  return hwloc_set_area_membind(topology_.get(), memory.data(), memory.size(), where.get(),
                                HWLOC_MEMBIND_BIND,
                                HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_BYNODESET) == 0;
}

std::optional<int> MachineTopology::node_of(const std::byte* address) const {
  const Bitmap where(hwloc_bitmap_alloc());
  const int failed =
      hwloc_get_area_memlocation(topology_.get(), address, 1, where.get(), HWLOC_MEMBIND_BYNODESET);
  const int node = hwloc_bitmap_first(where.get());
  return failed != 0 || node < 0 ? std::nullopt : std::optional(node);
}

}  // namespace fleetbench
