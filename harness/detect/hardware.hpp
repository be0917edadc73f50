// The hardware that a node was bought with, as far as its inventory tells.
#pragma once

#include <array>
#include <set>
#include <string>
#include <unordered_map>

#include "results-schema/inventory.hpp"

namespace fleetbench::detect {

// The parts of the inventory that tell of it.
inline constexpr std::array<const char*, 4> kHardware = {"gpus", "cpu", "nics", "disks"};

// Models, not how many of them there are: who lost a GPU is still of the same kind. What an
// administrator or a fault may change (driver, firmware, power limit, governor, memory size) is no
// part of it.
struct Hardware {
  std::array<std::set<std::string>, kHardware.size()> models;  // in the order of kHardware
  int gbit_per_s = 0;  // of the fastest network port; 0: unknown

  bool empty() const;
  auto operator<=>(const Hardware&) const = default;
};

// "2x EPYC 9654"; "none" where there is nothing.
std::string text_of(const std::set<std::string>& models);
// "H100 80GB, 2x EPYC 9654, NIC 15b3:1021, MZWLO3T8HCLS, 400 Gbit/s"
std::string text_of(const Hardware& hardware);

// Reads many nodes; their inventories must outlive it, since what they share is looked at once.
class HardwareReader {
 public:
  Hardware hardware_of(const Inventory& inventory);

 private:
  using Ids = std::unordered_map<std::string, std::string>;  // "15b3:1021" by address
  const Ids& pci_ids(const Json& pci);

  std::unordered_map<const Json*, Ids> pci_ids_;
};

}  // namespace fleetbench::detect
