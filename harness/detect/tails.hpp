// How long the tails of a healthy fleet are: the data decide, not an assumption.
#pragma once

#include <vector>

namespace fleetbench::detect {

// What is known of the tail of scores whose variance is about 1: a mixture of Student's t, weighed
// by how well each fits.
struct Tail {
  struct Component {
    double degrees = 0;  // more than 2; kMostTailDegrees is as good as normal
    double scale = 1;
    double weight = 0;  // all together 1
  };
  std::vector<Component> components;

  double mean_degrees() const;  // geometric
};

// Before seeing data, log(degrees) is normal about that of `degrees`.
struct TailPrior {
  double degrees = 8;
  double log_sigma = 0.5;
};

inline constexpr double kMostTailDegrees = 200;

// Scores that lie far out are what is to be tested and do not count: the likelihoods are those of
// distributions cut off there (at 3.5; farther out where there are many scores). Few scores, or none: the
// prior.
//
// Assuming normal tails alarms most large fleets (detection.md, section 4); assuming t4 hides real
// faults in them.
Tail fit_tail(const std::vector<double>& scores, const TailPrior& prior = {});

// P(score > z), expected over what is known of the tail, and never less than under a normal
// distribution.
double tail_probability(const Tail& tail, double z);
// The z for which that is p.
double tail_quantile(const Tail& tail, double p);

// fit_tail(scores).mean_degrees()
double tail_degrees(const std::vector<double>& scores);

}  // namespace fleetbench::detect
