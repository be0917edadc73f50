#include "harness/detect/student.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "harness/detect/normal.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kTiny = 1e-300;
// Where the search for a quantile may begin.
constexpr double kNearest = 1e-3;
constexpr double kFarthest = 1e100;

// Of a positive x. std::lgamma also writes the sign to a variable that all threads share.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double away_from_zero(double value) { return std::abs(value) < kTiny ? kTiny : value; }

// The continued fraction of I_x(a, b), Abramowitz & Stegun 26.5.8, by the modified Lentz method.
// Converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < 1e-15) {
      break;
    }
  }
  return result;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) {
    return 0;
  }
  if (x >= 1) {
    return 1;
  }
  const double log_front =
      log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x);
  if (x < (a + 1) / (a + b + 2)) {
    return std::exp(log_front) * beta_fraction(a, b, x) / a;
  }
  return 1 - std::exp(log_front) * beta_fraction(b, a, 1 - x) / b;
}

double student_tail(double t, double degrees) {
  const double half = 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t >= 0 ? half : 1 - half;
}

double student_density(double t, double degrees) {
  const double log_norm = log_gamma(0.5 * (degrees + 1)) - log_gamma(0.5 * degrees) -
                          0.5 * std::log(degrees * std::numbers::pi);
  return std::exp(log_norm - 0.5 * (degrees + 1) * std::log1p(t * t / degrees));
}

// Newton's method for log p over log t, which is concave and falls: from the second step on it
// comes nearer from one side.
double student_quantile(double p, double degrees) {
  double t = std::clamp(score_of_normal(normal_quantile(p), degrees), kNearest, kFarthest);
  for (int step = 0; step < 100; ++step) {
    const double tail = student_tail(t, degrees);
    const double change = std::log(tail / p) * tail / (t * student_density(t, degrees));
    t *= std::exp(change);
    if (std::abs(change) < 1e-14) {
      break;
    }
  }
  return t;
}

}  // namespace fleetbench::detect
