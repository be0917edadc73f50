// Which switches join the nodes of a fleet, as somebody described them.
#pragma once

#include <string>
#include <vector>

namespace fleetbench {

struct Switch {
  std::string name;
  std::vector<std::string> nodes;     // that hang on it directly: it is a leaf
  std::vector<std::string> switches;  // below it

  bool operator==(const Switch&) const = default;
};

// Names are unique, there is no cycle, each node hangs on one leaf, and each switch below another
// one is there. A switch may hang on several: two spines over the same leaves are usual.
struct Topology {
  std::vector<Switch> switches;  // empty: nobody described it

  bool empty() const { return switches.empty(); }
  bool operator==(const Topology&) const = default;
};

}  // namespace fleetbench
