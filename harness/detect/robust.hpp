// Statistics that a few bad values cannot move. All are pure; the empty sample gives 0.
#pragma once

#include <span>
#include <vector>

namespace fleetbench::detect {

// Standard error of a median of R normal values is 1.2533 sigma / sqrt(R), its square pi/2 / R.
inline constexpr double kMedianVariance = 1.5708;

double median(std::vector<double> values);

// Median absolute deviation from `centre`, not yet scaled to a standard deviation.
double deviation(std::span<const double> values, double centre);

// What MAD is multiplied with to estimate sigma of a normal sample of n: finite-sample factors by
// simulation, interpolated in 1/n; 1.4826 for n without bound. n >= 2.
double mad_factor(std::size_t n);

// Qn of Rousseeuw & Croux (1993): the k-th smallest of the gaps between two values, k = h (h - 1) /
// 2 with h = n / 2 + 1, not yet scaled. Needs no centre, and uses 82 % of what normal values tell
// where the MAD uses 37 %; but takes n^2. 0 for fewer than two values.
double pairwise_gap(std::span<const double> values);

// As mad_factor, for Qn; odd and even n are interpolated apart, for their k are unlike.
double qn_factor(std::size_t n);

// Standard deviation: from Qn up to kMostForQn values, from the MAD around the median above. 0 for
// fewer than two values.
inline constexpr std::size_t kMostForQn = 100;
double robust_sigma(std::span<const double> values);

// Variance of the median of n values of unit variance: pi / (2n + 1). Within 2 % for odd n, on the
// safe side for even n (exact: 1, 0.5, 0.449, 0.298, 0.287 for n = 1 to 5).
double median_variance(std::size_t n);

}  // namespace fleetbench::detect
