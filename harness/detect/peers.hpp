// Who is compared with whom.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/table.hpp"

namespace fleetbench::detect {

inline constexpr std::size_t kFewestPeers = 3;  // subjects that can be compared with each other

struct PeerGroup {
  int cohort = 0;
  std::vector<std::size_t> rows;
  std::vector<double> values;  // of the rows: level - reference
};

struct PeerGroups {
  std::vector<PeerGroup> groups;
  std::vector<std::string> populations;  // what to say where one cohort turned out to be two
  double apart = 0;                      // by how much those are apart, log scale
};

// Rows that have a level (not kAbsent), by cohort; links are all of one. Of metrics as measured a
// cohort that is two populations (populations.hpp) of at least kFewestPeers nodes each is two
// groups.
PeerGroups peer_groups(const Table& table, const Names& names, const std::vector<double>& levels);

}  // namespace fleetbench::detect
