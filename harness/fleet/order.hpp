// What the root asks of a rank, and how it travels.
#pragma once

#include <string>
#include <vector>

#include "harness/plan/slots.hpp"
#include "results-schema/metric.hpp"

namespace fleetbench::fleet {

// A GPU of a node, and what its samples call it.
struct GpuSeat {
  std::string label;  // "gpu3"
  std::string uuid;
};

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
  double limit_s = 0;           // for each phase
};

// `what`: "prepare" or "calibrate".
Json message_of(const char* what, const Order& order);
Order order_from(const Json& message);

}  // namespace fleetbench::fleet
