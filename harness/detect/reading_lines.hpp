// What is told of readings that stand out.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "harness/detect/readings.hpp"
#include "harness/detect/table.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::detect {

inline constexpr const char* kTelemetry = "telemetry";  // the source of such evidence

// Whose readings are laid beside whose.
struct Sides {
  int node = 0;
  std::string device;      // empty: all of the node's
  std::vector<int> apart;  // nodes of the finding, which are nobody's peers
  std::string prefix;      // of its lines: an end of a link is named

  bool is_own(const Reader& reader) const {
    return reader.node == node &&
           (device.empty() || reader.device.empty() || reader.device == device);
  }
  bool is_apart(const Reader& reader) const {
    return reader.device.empty() || device.empty()
               ? std::ranges::find(apart, reader.node) != apart.end()
               : is_own(reader);
  }
};

struct Line {
  const ReadingType* type = nullptr;
  Evidence evidence;
};

struct ReadingsAtHand {
  const ReadingsOfSteps& readings;
  const Names& names;
  const std::vector<bool>& peers;  // nodes that others may be compared with
  double least_effect = 0;         // as Bar's
};

// Nodes that others are compared with: each cohort, or where it is large every so many-th node of
// it.
std::vector<bool> peers_in(const Names& names);

// In the order of readings, which is that of reading_types().
std::vector<Line> lines_of(const ReadingsAtHand& at_hand, const Sides& sides);

// What most others have and none of its own; empty where there is nothing like that.
std::string unread_of(const ReadingsAtHand& at_hand, const Sides& sides);

}  // namespace fleetbench::detect
