// How long the tails of a healthy fleet are: the data decide, not an assumption.
#pragma once

#include <vector>

namespace fleetbench::detect {

class TailShape;

// What is known of the tail of scores whose variance is about 1: a mixture of Student's t, weighed
// by how well each fits.
struct Tail {
  struct Component {
    const TailShape* shape = nullptr;  // one of tail_shapes()
    double weight = 0;                 // all together 1
  };
  std::vector<Component> components;

  double mean_degrees() const;  // geometric
};

inline constexpr double kMostTailDegrees = 200;  // as good as normal

// How likely each number of degrees is before seeing the scores of one metric.
struct TailPrior {
  std::vector<double> weights;  // of tail_grid(), all together 1
};

// From 2.8 to kMostTailDegrees.
const std::vector<double>& tail_grid();

// log(degrees) is normal about that of `degrees`.
TailPrior expected_tail(double degrees = 8, double log_sigma = 0.5);

// What the metrics of a run have in common, from the scores of each: how many of them have which
// tail. `expected` is what is believed before, worth as much as some metrics.
TailPrior learn_tails(const std::vector<std::vector<double>>& scores, const TailPrior& expected);

// Positive scores, of what is slow, may be of faults where they are large, and do not count from
// 3.5 on: the likelihoods are those of distributions cut off there. Faults do not make anything
// fast, so the other side shows the tail. Few scores, or none: the prior.
//
// Assuming normal tails alarms most large fleets; assuming t4 hides real
// faults in them.
Tail fit_tail(const std::vector<double>& scores, const TailPrior& prior = expected_tail());

// P(score > z), expected over what is known of the tail, and never less than under a normal
// distribution.
double tail_probability(const Tail& tail, double z);
// The z for which that is p.
double tail_quantile(const Tail& tail, double p);

// fit_tail(scores).mean_degrees()
double tail_degrees(const std::vector<double>& scores);

}  // namespace fleetbench::detect
