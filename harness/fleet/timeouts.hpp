// Who was late so often that a step goes on without them.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "harness/plan/slots.hpp"

namespace fleetbench::fleet {

// A worker, of a node or of a GPU, a pair or group that was late this often is left out of the
// step.
inline constexpr int kTimeoutsAllowed = 2;

class Timeouts {
 public:
  // One more of a party in a step; both ends of a pair may report the same. True where the party is
  // left out from now on. `device`: of a node by itself, which of its devices.
  bool add(int step, int slot, const plan::Party& party, const std::string& device = "");
  bool left_out(int step, const plan::Party& party, const std::string& device = "") const;

 private:
  struct Count {
    int times = 0;
    int last_slot = -1;
  };
  std::map<std::tuple<int, plan::Party, std::string>, Count>
      counts_;  // by step, sorted party, device
};

}  // namespace fleetbench::fleet
