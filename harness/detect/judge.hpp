// How far each subject of a table is from its peers, in units of what is usual among them.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/clean_set.hpp"
#include "harness/detect/detect.hpp"
#include "harness/detect/prior.hpp"
#include "harness/detect/table.hpp"
#include "harness/detect/tails.hpp"

namespace fleetbench::detect {

// All of it on the log scale, positive is slow.
struct Judgement {
  bool judged = false;     // false: no value, or too few peers; nothing else is set
  bool clean = false;      // looks like its peers
  double level = 0;        // the subject's: the median of its passes
  double peers = 0;        // what it is compared with
  double slowdown = 0;     // level - peers
  double against_all = 0;  // level - median of all subjects, without references but with bases
  double scale = 0;        // sigma of a healthy subject's slowdown
  double unsure = 0;       // sigma of this one's: larger where it has fewer passes or is noisier
  double degrees = 0;      // of Student's t for slowdown / unsure
  double z = 0;            // the same as a standard normal variable would be
  // From here on set by test_all(), see significance.hpp.
  double adjusted_slow = 1;  // p-values, corrected over the whole run
  double adjusted_fast = 1;
};

struct Judged {
  Table table;
  std::vector<Judgement> rows;
  std::vector<int> groups;  // of each row: who are its peers; -1 where it has no value
  double between = 0;       // robust sigma between subjects, as measured
  double within = 0;        // robust sigma from pass to pass; 0 where there is one pass
  double share = 0;         // of the permitted error, of each of its rows; see significance.hpp
  Tail tail;                // of what is usual
  bool floored = false;     // the spread is one that nothing smaller is believed than
  std::vector<std::string> populations;  // where one cohort turned out to be two
  double apart = 0;                      // by how much those are apart, log scale
};

// Peers are the other rows of the same cohort, of the same population where a cohort is two. Fewer
// than three rows with values: none is judged, unless their reference is fixed. Spreads are shrunk
// toward those of the other tables of the layer; a cohort of fewer than eight borrows from larger
// ones; the only three or four there are take an assumed one. One result a table, in their order.
std::vector<Judged> judge_all(std::vector<Table> tables, const Names& names,
                              const DetectOptions& options);

}  // namespace fleetbench::detect
