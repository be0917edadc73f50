// How far each subject of a table is from its peers, and how likely that is among healthy ones.
#pragma once

#include <vector>

#include "harness/detect/table.hpp"

namespace fleetbench::detect {

// All of it on the log scale, positive is slow.
struct Judgement {
  bool judged = false;  // false: no value, or too few peers; nothing else is set
  std::size_t passes = 0;
  double level = 0;        // the subject's
  double peers = 0;        // what it is compared with
  double slowdown = 0;     // level - peers
  double against_all = 0;  // level - median of all subjects, without references
  double low = 0;          // nominal 90 % interval of the slowdown
  double high = 0;
  bool lasting = false;         // half of the slowdown remains without its worst passes
  std::size_t slow_passes = 0;  // in which it was slow by at least half its slowdown
  double scale = 0;             // sigma of a healthy subject's slowdown
  double score = 0;             // the slowdown over its own sigma, which is at least that
  double degrees = 0;           // of Student's t for the score
  // From here on set by test_all, see significance.hpp.
  double p_slow = 1;  // one-sided, not corrected for the number of tests
  double p_fast = 1;
  double adjusted_slow = 1;  // corrected over the whole run
  double adjusted_fast = 1;
};

struct Judged {
  Table table;
  std::vector<Judgement> rows;
  double between = 0;  // robust sigma between subjects, as measured
  double within = 0;   // robust sigma from pass to pass; 0 where there is one pass
};

// Peers are the other rows. Fewer than three rows with values: none is judged. The spread of the
// peers is shrunk toward a prior: see scale.cpp.
Judged judge(Table table);

}  // namespace fleetbench::detect
