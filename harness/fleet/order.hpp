// What the root asks of a rank, and how it travels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/plan/slots.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::fleet {

// A GPU of a node, and what its samples call it.
struct GpuSeat {
  std::string label;  // "gpu3"
  std::string uuid;
  int team = 0;   // of an order with teams: position in it,
  int index = 0;  // ... and among its members
};

// GPUs that measure with each other, node by node.
struct TeamOrder {
  std::vector<std::string> nodes;                 // names
  std::vector<std::vector<std::string>> devices;  // labels, by node; one entry: on all the same
};

// By label of a GPU of this rank: by what it joins its team, see Prepared::invitation().
using Invitations = std::map<std::string, std::string>;

// What a slot asks of one of its owners.
struct Order {
  int slot = 0;
  int turn = 0;  // how many slots of this job came before
  plan::Runner runner = plan::Runner::worker;
  std::string probe;
  Json params;
  Json work;
  std::vector<int> members;     // ranks that measure with each other; empty for a worker's probe
  std::vector<GpuSeat> gpus;    // that the rank measures; empty for other probes
  bool in_one_process = false;  // all of them, see ProbeInfo::all_gpus
  std::vector<TeamOrder> teams = {};  // of `gpus`, see ProbeInfo::joins_workers; else empty
  double limit_s = 0;                 // for each phase
};

// What the worker of a seat is told as "place": {"index", "ranks": [{"node", "device"}…]}.
Json place_of(const TeamOrder& team, int index);

// `what`: "prepare" or "calibrate".
Json message_of(const char* what, const Order& order);
Order order_from(const Json& message);

}  // namespace fleetbench::fleet
