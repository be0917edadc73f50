#include "harness/detect/tails.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "harness/detect/normal.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kCut = 5;
constexpr double kFewestDegrees = 2.8;
constexpr double kGridRatio = 1.12;

// The likelihood needs only how many scores have about which size.
constexpr std::size_t kBins = 200;
struct Histogram {
  std::array<double, kBins> counts{};
  double size = 0;
};

double middle_of(std::size_t bin) {
  return (static_cast<double>(bin) + 0.5) * kCut / static_cast<double>(kBins);
}

Histogram histogram_of(const std::vector<double>& scores) {
  Histogram histogram;
  for (const double score : scores) {
    histogram.counts[static_cast<std::size_t>(std::abs(score) / kCut * kBins)] += 1;
    histogram.size += 1;
  }
  return histogram;
}

double log_norm(double degrees) {
  return std::lgamma(0.5 * (degrees + 1)) - std::lgamma(0.5 * degrees) -
         0.5 * std::log(degrees * M_PI);
}

double log_likelihood(const Histogram& histogram, double scale, double degrees) {
  const double inside = 1 - 2 * student_tail(kCut / scale, degrees);
  double sum = histogram.size * (log_norm(degrees) - std::log(scale) - std::log(inside));
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (histogram.counts[bin] > 0) {
      const double x = middle_of(bin) / scale;
      sum -= histogram.counts[bin] * 0.5 * (degrees + 1) * std::log1p(x * x / degrees);
    }
  }
  return sum;
}

// Of a t with variance 1.
double scale_of(double degrees) { return std::sqrt((degrees - 2) / degrees); }

double log_prior(double degrees, const TailPrior& prior) {
  const double distance = std::log(degrees / prior.degrees) / prior.log_sigma;
  return -0.5 * distance * distance;
}

}  // namespace

Tail fit_tail(const std::vector<double>& scores, const TailPrior& prior) {
  std::vector<double> inside;
  for (const double score : scores) {
    if (std::abs(score) < kCut) {
      inside.push_back(score);
    }
  }
  const Histogram histogram = histogram_of(inside);
  Tail best{prior.degrees};
  double largest = -std::numeric_limits<double>::infinity();
  for (double degrees = kFewestDegrees; degrees <= kMostTailDegrees; degrees *= kGridRatio) {
    const double posterior =
        log_likelihood(histogram, scale_of(degrees), degrees) + log_prior(degrees, prior);
    if (posterior > largest) {
      largest = posterior;
      best = {degrees};
    }
  }
  return best;
}

double tail_probability(const Tail& tail, double z) {
  return std::max(normal_tail(z), student_tail(z / scale_of(tail.degrees), tail.degrees));
}

double tail_quantile(const Tail& tail, double p) {
  return std::max(normal_quantile(p), scale_of(tail.degrees) * student_quantile(p, tail.degrees));
}

double tail_degrees(const std::vector<double>& scores) { return fit_tail(scores).degrees; }

}  // namespace fleetbench::detect
