// The standard normal distribution, and what is needed to compare others with it.
#pragma once

namespace fleetbench::detect {

// P(Z > z), accurate relative to its size far into the tail.
double normal_tail(double z);

// The z for which P(Z > z) = p, 0 < p < 1.
double normal_quantile(double p);

// The z that is as far out as t is under Student's t: Wallace (1959), within some per cent of the
// exact one from 3 degrees on, on the safe side (smaller) far out.
double normal_score(double t, double degrees);
// Its inverse.
double score_of_normal(double z, double degrees);

// Variance of a normal variable of variance 1, of which only the central share is seen.
double central_variance(double share);

// First derivative of the digamma function, and the x > 0 at which it has the value y > 0.
double digamma(double x);
double trigamma(double x);
double inverse_trigamma(double y);

}  // namespace fleetbench::detect
