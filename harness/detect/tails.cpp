#include "harness/detect/tails.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/detect/normal.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kCut = 3.5;
constexpr double kMiddleCut = 4.2;
constexpr double kFarCut = 6;
constexpr std::size_t kSomeScores = 500;
constexpr std::size_t kManyScores = 2000;
constexpr double kFewestDegrees = 2.8;
constexpr double kGridRatio = 1.15;
// Components that weigh less change nothing.
constexpr double kLeastWeight = 5e-3;

// The likelihood needs only how many scores have about which size.
constexpr std::size_t kBins = 160;
struct Histogram {
  double cut = kCut;
  std::array<double, kBins> counts{};
  double size = 0;

  double middle(std::size_t bin) const {
    return (static_cast<double>(bin) + 0.5) * cut / static_cast<double>(kBins);
  }
};

Histogram histogram_of(const std::vector<double>& scores) {
  Histogram histogram;
  histogram.cut = scores.size() >= kManyScores   ? kFarCut
                  : scores.size() >= kSomeScores ? kMiddleCut
                                                 : kCut;
  for (const double score : scores) {
    const double place = std::abs(score) / histogram.cut;
    if (place < 1) {
      histogram.counts[static_cast<std::size_t>(place * kBins)] += 1;
      histogram.size += 1;
    }
  }
  return histogram;
}

// Of a t with variance 1.
double scale_of(double degrees) { return std::sqrt((degrees - 2) / degrees); }

double log_norm(double degrees) {
  return std::lgamma(0.5 * (degrees + 1)) - std::lgamma(0.5 * degrees) -
         0.5 * std::log(degrees * M_PI);
}

double log_likelihood(const Histogram& histogram, double degrees, double scale) {
  const double inside = 1 - 2 * student_tail(histogram.cut / scale, degrees);
  double sum = histogram.size * (log_norm(degrees) - std::log(scale) - std::log(inside));
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (histogram.counts[bin] > 0) {
      const double x = histogram.middle(bin) / scale;
      sum -= histogram.counts[bin] * 0.5 * (degrees + 1) * std::log1p(x * x / degrees);
    }
  }
  return sum;
}

// The spread that scores are in units of is estimated, and without what lies far out.
constexpr double kScaleLogSigma = 0.07;
constexpr std::array<double, 7> kScaleSteps{-2.25, -1.5, -0.75, 0, 0.75, 1.5, 2.25};

double log_prior(double degrees, double step, const TailPrior& prior) {
  const double distance = std::log(degrees / prior.degrees) / prior.log_sigma;
  return -0.5 * (distance * distance + step * step);
}

}  // namespace

double Tail::mean_degrees() const {
  double mean = 0;
  for (const Component& component : components) {
    mean += component.weight * std::log(component.degrees);
  }
  return std::exp(mean);
}

Tail fit_tail(const std::vector<double>& scores, const TailPrior& prior) {
  const Histogram histogram = histogram_of(scores);
  Tail tail;
  double largest = -HUGE_VAL;
  for (double degrees = kFewestDegrees; degrees <= kMostTailDegrees; degrees *= kGridRatio) {
    for (const double step : kScaleSteps) {
      const double scale = scale_of(degrees) * std::exp(kScaleLogSigma * step);
      const double posterior =
          log_likelihood(histogram, degrees, scale) + log_prior(degrees, step, prior);
      tail.components.push_back({degrees, scale, posterior});
      largest = std::max(largest, posterior);
    }
  }
  for (Tail::Component& component : tail.components) {
    component.weight = std::exp(component.weight - largest);
  }
  std::erase_if(tail.components,
                [](const auto& component) { return component.weight < kLeastWeight; });
  double sum = 0;
  for (const Tail::Component& component : tail.components) {
    sum += component.weight;
  }
  for (Tail::Component& component : tail.components) {
    component.weight /= sum;
  }
  return tail;
}

double tail_probability(const Tail& tail, double z) {
  double p = 0;
  for (const Tail::Component& component : tail.components) {
    p += component.weight * student_tail(z / component.scale, component.degrees);
  }
  return std::max(normal_tail(z), p);
}

double tail_quantile(const Tail& tail, double p) {
  double low = 0;
  double high = 1;
  while (tail_probability(tail, high) > p && high < 1e12) {
    low = high;
    high *= 2;
  }
  for (int step = 0; step < 40; ++step) {
    const double middle = 0.5 * (low + high);
    (tail_probability(tail, middle) > p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double tail_degrees(const std::vector<double>& scores) { return fit_tail(scores).mean_degrees(); }

}  // namespace fleetbench::detect
