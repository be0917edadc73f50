#include "harness/detect/normal.hpp"

#include <cmath>
#include <numbers>

namespace fleetbench::detect {
namespace {

double density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi); }

double wallace(double degrees) { return (8 * degrees + 1) / (8 * degrees + 3); }

// From here on the asymptotic series of digamma and trigamma are exact enough.
constexpr double kAsymptotic = 8;

}  // namespace

double normal_tail(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

double normal_quantile(double p) {
  double low = -40;
  double high = 40;
  for (int step = 0; step < 100 && high - low > 1e-12; ++step) {
    const double middle = 0.5 * (low + high);
    (normal_tail(middle) > p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double normal_score(double t, double degrees) {
  const double z = wallace(degrees) * std::sqrt(degrees * std::log1p(t * t / degrees));
  return std::copysign(z, t);
}

double score_of_normal(double z, double degrees) {
  const double squared = z * z / (wallace(degrees) * wallace(degrees));
  return std::copysign(std::sqrt(degrees * std::expm1(squared / degrees)), z);
}

double central_variance(double share) {
  if (share >= 1) {
    return 1;
  }
  const double edge = normal_quantile((1 - share) / 2);
  return 1 - 2 * edge * density(edge) / share;
}

// Abramowitz & Stegun 6.3.18 and 6.4.12, after the recurrences 6.3.5 and 6.4.6.
double digamma(double x) {
  double shifted = 0;
  for (; x < kAsymptotic; ++x) {
    shifted -= 1 / x;
  }
  const double f = 1 / (x * x);
  return shifted + std::log(x) - 0.5 / x - f * (1.0 / 12 - f * (1.0 / 120 - f / 252));
}

double trigamma(double x) {
  double shifted = 0;
  for (; x < kAsymptotic; ++x) {
    shifted += 1 / (x * x);
  }
  const double f = 1 / (x * x);
  return shifted + 1 / x + f / 2 + f / x * (1.0 / 6 - f * (1.0 / 30 - f / 42));
}

double inverse_trigamma(double y) {
  double low = std::log(1e-6);
  double high = std::log(1e8);
  for (int step = 0; step < 100; ++step) {
    const double middle = 0.5 * (low + high);
    (trigamma(std::exp(middle)) > y ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

}  // namespace fleetbench::detect
