// What a report got right and wrong about a fleet whose faults are known.
#pragma once

#include "harness/simulate/fleet.hpp"
#include "results-schema/report.hpp"

namespace fleetbench::bench {

struct Score {
  int faults = 0;
  int found = 0;   // faults with an alarm on their node and layer
  int named = 0;   // faults whose alarm names just them: the device, the node, the fleet
  int alarms = 0;  // slow findings that are suspect or confirmed
  int false_alarms = 0;
  int top = 0;              // slow findings among the first of all, as many as there are faults
  int top_true = 0;         // of those, on a faulty node and layer
  int intervals = 0;        // of found faults
  int cover_level = 0;      // hold the subject's true present level
  int cover_effect = 0;     // hold what the fault adds to it
  bool other_kind = false;  // a wrong or missing finding where no such fault is
};

Score score(const simulation::Fleet& fleet, const Report& report);

}  // namespace fleetbench::bench
