// Inventories as flat lists of facts that can be laid side by side.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "results-schema/inventory.hpp"

namespace fleetbench::detect {

// Path → value, of a part of an inventory: "nics[eth0].mtu" → "1500". Values are texts that are
// equal where the values are; `shown` is what a person reads. Elements of arrays are known by what
// names them (name, address, mount point …), else by position; that they are there is a fact of its
// own. Lists of scalars are one value. Left out is what differs by nature: names, addresses,
// serials, what is free or in use just now.
using Facts = std::map<std::string, std::string>;

// What is null, empty or absent.
inline constexpr std::string_view kNone = "n";
inline constexpr std::string_view kPresent = "spresent";
std::string shown(std::string_view value);

// Flattens parts of inventories; equal facts are kept once, and parts that nodes share are
// flattened once. The parts must outlive it; what it returns lives as long as it does.
class FactPool {
 public:
  const Facts& facts_of(const std::string& name, const Json& part);

 private:
  std::map<std::string, std::unordered_map<const Json*, const Facts*>> of_part_;
  std::unordered_map<std::string, Facts> of_content_;
  std::unordered_map<std::string, bool> differs_by_nature_;  // by key
};

}  // namespace fleetbench::detect
