// What became of each measurement of a simulated fleet.
#pragma once

#include <map>
#include <tuple>

#include "harness/simulate/fleet.hpp"

namespace fleetbench::simulation {

struct Outcome {
  bool recorded = true;
  bool lost = false;  // the node has stopped answering; nothing is recorded
  Status status = Status::ok;
};

class Outcomes {
 public:
  // `fleet` must outlive this.
  explicit Outcomes(const Fleet& fleet);
  Outcome of(std::size_t group, int subject, int pass) const;

 private:
  const Fleet& fleet_;
  std::map<std::tuple<std::size_t, int, int>, const Trouble*> troubles_;
};

}  // namespace fleetbench::simulation
