// A rank as the others know it: where it is, and how fast its ways out and in are.
#pragma once

#include <map>
#include <string>

#include "tests/gpu_sim/model/model.hpp"
#include "tests/gpu_sim/nccl/wire.hpp"

namespace gpu_sim::nccl {

struct Member {
  std::string node;
  int gpu = 0;   // of the node; also the rail that its NIC is on
  int cuda = 0;  // CUDA's number of it
  std::uint32_t bus = 0;
  int version = 0;  // 22809
  // Factors on the rates of a healthy one.
  double nvlink = 1;
  double nic_send = 1;
  double nic_receive = 1;
  std::map<std::string, double> links;  // to nodes
  std::string leaf;                     // the switch that its node hangs on; empty: one for all
  double leaf_factor = 1;
  NvLink joined = NvLink::switches;
  bool no_peers = false;
  std::uint64_t seed = 1;
  double latency = 1;

  std::string name() const { return node + "/gpu" + std::to_string(gpu); }
  void write(Writer& writer) const;
  static Member read(Reader& reader);
};

// This process's `device`, with the model locked.
Member member_of(const Model& model, const Device& device);

}  // namespace gpu_sim::nccl
