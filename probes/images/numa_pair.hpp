// Two NUMA nodes: the cores of one, and memory near them or far from them.
#pragma once

#include <memory>
#include <optional>
#include <string>

struct hwloc_topology;

namespace fleetbench::images {

class NumaPair {
 public:
  // The first NUMA node that this process may compute on, and the last other one, by hwloc: of
  // several it is the most likely to be in another socket. Nothing where there is no second node,
  // or the kernel does not let this process bind memory. `synthetic` is a topology in hwloc's
  // notation ("numa:2 core:4 pu:2") instead of this machine, for tests; nobody binds to that.
  static std::optional<NumaPair> find(const std::string& synthetic = "");

  int cores() const { return cores_; }  // of the near node that this process may use
  int near() const { return near_; }    // the operating system's numbers of the nodes
  int far() const { return far_; }

  // From now on this thread runs on the cores of the near node, and what it touches first is put
  // into its memory or into the far node's. Throws std::runtime_error.
  void bind_this_thread(bool to_far_memory) const;

 private:
  struct Destroy {
    void operator()(hwloc_topology* topology) const;
  };
  using Topology = std::shared_ptr<hwloc_topology>;

  NumaPair(Topology topology, int near, int far, int cores)
      : topology_(std::move(topology)), near_(near), far_(far), cores_(cores) {}
  bool can_bind() const;

  Topology topology_;
  int near_;
  int far_;
  int cores_;
};

}  // namespace fleetbench::images
