// How a fact stands in the inventory: what the machine does not say is null, never guessed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace fleetbench {

using Json = nlohmann::json;

template <typename Value>
Json fact(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

// A list that has an upper limit, and how many entries the limit cost. `entries` is null where the
// machine does not say, and an empty array where it says that there are none.
struct FactList {
  Json entries;
  std::size_t left_off = 0;
};

// Cuts what is beyond the limit off; returns how much that was.
template <typename Value>
std::size_t cut_to(std::size_t limit, std::vector<Value>& values) {
  const std::size_t left_off = values.size() > limit ? values.size() - limit : 0;
  values.resize(values.size() - left_off);
  return left_off;
}

}  // namespace fleetbench
