// What the evidence of a slow finding says.
#pragma once

#include <string>
#include <vector>

#include "harness/detect/hits.hpp"
#include "harness/detect/slow.hpp"

namespace fleetbench::detect {

Evidence evidence_of(const Names& names, const Hit& hit);

// A covariate that explains at least half of what a subject is slow by, in words.
struct Explained {
  std::string covariate;
  std::string text;  // "its sm_clock is 1260 MHz, 1380 MHz is usual: that explains 7.5 %"
};
// Empty where the hit's metric has no fit, or its covariates explain less than half together.
std::vector<Explained> covariates_of(const Evaluated& evaluated, const Hit& hit);

}  // namespace fleetbench::detect
