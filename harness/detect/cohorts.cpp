#include "harness/detect/cohorts.hpp"

namespace fleetbench::detect {

std::vector<std::string> cohorts_of(const std::vector<NodeInfo>& nodes) {
  std::vector<std::string> keys;
  for (const NodeInfo& node : nodes) {
    keys.push_back(node.cohort);
  }
  return keys;
}

}  // namespace fleetbench::detect
