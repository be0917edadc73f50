// What most nodes have.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harness/detect/facts.hpp"

namespace fleetbench::detect {

inline constexpr std::size_t kFewestNodes = 3;

using Counts = std::map<std::string_view, std::size_t>;  // of nodes, by value

struct Majority {
  std::string_view value = kNone;
  std::size_t count = 0;  // who have it
  std::size_t of = 0;     // who were asked
};

// Sizes in bytes, known by their path, are the same within 1 %.
bool same(const std::string& path, std::string_view a, std::string_view b);

// n log n in the number of values. The value is one of `counts`.
Majority majority_of(const std::string& path, const Counts& counts);

// Some differ, at least 60 % agree, and at least three were asked.
bool tells(const Majority& majority);

}  // namespace fleetbench::detect
