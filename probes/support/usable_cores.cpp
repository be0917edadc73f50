#include "probes/support/usable_cores.hpp"

#include <hwloc.h>
#include <sys/types.h>

#include <algorithm>

namespace fleetbench {
namespace {

class Topology {
 public:
  Topology() {
    hwloc_topology_init(&topology_);
    loaded_ = hwloc_topology_load(topology_) == 0;
  }
  ~Topology() { hwloc_topology_destroy(topology_); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  // 0 where hwloc does not know.
  int cores_of_this_process() const {
    if (!loaded_) {
      return 0;
    }
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    int cores = 0;
    if (hwloc_get_cpubind(topology_, mask, HWLOC_CPUBIND_PROCESS) == 0) {
      const int all = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_CORE);
      for (int i = 0; i < all; ++i) {
        const auto* core =
            hwloc_get_obj_by_type(topology_, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
        cores += hwloc_bitmap_intersects(core->cpuset, mask);
      }
    }
    hwloc_bitmap_free(mask);
    return cores;
  }

 private:
  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
};

}  // namespace

int usable_cores() { return std::max(1, Topology().cores_of_this_process()); }

}  // namespace fleetbench
