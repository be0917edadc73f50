// The lines of SuperBench's results-summary.jsonl, before their keys are understood.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "harness/record/sample_rows.hpp"

namespace fleetbench::record {

struct SuperbenchEntry {
  int key = 0;
  double value = 0;  // not finite: there was something else, which is reported
};

struct SuperbenchLine {
  int file = 0;
  int line = 0;
  int node = 0;
  std::vector<SuperbenchEntry> entries;
};

// Adds the lines of a file, one node each, to `lines`: nodes are numbered in `rows`, keys in
// `keys`. NaN, Infinity, null and values that are no numbers are reported one by one; a line that
// is no JSON object as a whole, and everything on it is left out.
void read_superbench_lines(const SourceText& source, int file, SampleRows& rows, NameTable& keys,
                           std::vector<SuperbenchLine>& lines);

}  // namespace fleetbench::record
