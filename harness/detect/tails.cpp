#include "harness/detect/tails.hpp"

#include <cmath>
#include <limits>

#include "harness/detect/robust.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kCut = 5;
// Before seeing data, log(degrees) is normal with this mean and standard deviation: from 3 to 20
// in 95 of 100 fleets.
constexpr double kPriorDegrees = 8;
constexpr double kPriorLogSigma = 0.5;
constexpr double kFewestDegrees = 3;
constexpr double kMostDegrees = 40;  // as good as normal
constexpr double kGridRatio = 1.1;

// Logarithm of Student's density at `x` times the degrees' norming constant, which log_norm gives.
double log_density(double x, double degrees) {
  return -0.5 * (degrees + 1) * std::log1p(x * x / degrees);
}

double log_norm(double degrees) {
  return std::lgamma(0.5 * (degrees + 1)) - std::lgamma(0.5 * degrees) -
         0.5 * std::log(degrees * M_PI);
}

// `mad`: median absolute score, from which the scale follows for given degrees, since half of the
// distribution lies within its upper quartile.
double log_likelihood(const std::vector<double>& scores, double mad, double degrees) {
  const double scale = mad / student_quantile(0.25, degrees);
  const double inside = 1 - 2 * student_tail(kCut / scale, degrees);
  double sum =
      static_cast<double>(scores.size()) * (log_norm(degrees) - std::log(scale) - std::log(inside));
  for (const double score : scores) {
    sum += log_density(score / scale, degrees);
  }
  return sum;
}

double log_prior(double degrees) {
  const double distance = std::log(degrees / kPriorDegrees) / kPriorLogSigma;
  return -0.5 * distance * distance;
}

}  // namespace

double tail_degrees(const std::vector<double>& scores) {
  std::vector<double> inside;
  for (const double score : scores) {
    if (std::abs(score) < kCut) {
      inside.push_back(score);
    }
  }
  const double mad = deviation(inside, 0);
  if (mad <= 0) {
    return kPriorDegrees;
  }
  double best = kPriorDegrees;
  double largest = -std::numeric_limits<double>::infinity();
  for (double degrees = kFewestDegrees; degrees < kMostDegrees; degrees *= kGridRatio) {
    const double posterior = log_likelihood(inside, mad, degrees) + log_prior(degrees);
    if (posterior > largest) {
      largest = posterior;
      best = degrees;
    }
  }
  return best;
}

}  // namespace fleetbench::detect
