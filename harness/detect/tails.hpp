// How long the tails of a healthy fleet are: the data decide, not an assumption.
#pragma once

#include <vector>

namespace fleetbench::detect {

// Student's t with variance 1, as scores have by construction.
struct Tail {
  double degrees = 8;  // more than 2; kMostTailDegrees is as good as normal
};

// Before seeing data, log(degrees) is normal about that of `degrees`.
struct TailPrior {
  double degrees = 8;
  double log_sigma = 0.5;
};

inline constexpr double kMostTailDegrees = 60;

// The Student t that fits the scores best. Scores beyond 5 are what is to be tested and do not
// count: the likelihood is that of a distribution cut off there. Few scores, or none: the prior.
//
// Assuming normal tails alarms most large fleets (detection.md, section 4); assuming t4 hides real
// faults in them.
Tail fit_tail(const std::vector<double>& scores, const TailPrior& prior = {});

// P(score > z) under the tail, and never less than under a normal distribution.
double tail_probability(const Tail& tail, double z);
// The z for which that is p.
double tail_quantile(const Tail& tail, double p);

// fit_tail(scores).degrees
double tail_degrees(const std::vector<double>& scores);

}  // namespace fleetbench::detect
