// The keys of SuperBench's results, once it is known which nodes there are.
#pragma once

#include <string>
#include <vector>

#include "harness/record/sample_rows.hpp"
#include "harness/record/superbench_key.hpp"

namespace fleetbench::record {

struct KnownKey {
  bool of_benchmark = false;  // false: everything else means nothing
  SuperbenchKey parts;
  SuperbenchFacts facts;
  int step = kNone;
  int metric = kNone;  // none of a return code
  int device = kNone;
  int a = kNone;  // the two ends, where it is of a link
  int b = kNone;
  bool is_link() const { return a != kNone; }
};

// One for each name. Numbers steps, devices and metrics in `rows`, whose nodes must all be there;
// warns of keys and metrics of which it is not known what they mean.
std::vector<KnownKey> understand_keys(const NameTable& names, SampleRows& rows);

}  // namespace fleetbench::record
