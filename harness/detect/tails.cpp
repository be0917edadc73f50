#include "harness/detect/tails.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/detect/normal.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

// What is slow by more may be a fault; what is fast by as much is not, and shows how long the tails
// are.
constexpr double kSlowCut = 3.5;
constexpr double kFastCut = 6;
constexpr double kFewestDegrees = 2.8;
constexpr double kGridRatio = 1.15;
// Components that weigh less change nothing.
constexpr double kLeastWeight = 5e-3;

// The likelihood needs only how many scores have about which size.
constexpr std::size_t kBins = 250;
constexpr double kBinWidth = (kFastCut + kSlowCut) / static_cast<double>(kBins);
struct Histogram {
  std::array<double, kBins> counts{};
  double size = 0;
};

double middle_of(std::size_t bin) {
  return (static_cast<double>(bin) + 0.5) * kBinWidth - kFastCut;
}

Histogram histogram_of(const std::vector<double>& scores) {
  Histogram histogram;
  for (const double score : scores) {
    if (score > -kFastCut && score < kSlowCut) {
      const auto bin = static_cast<std::size_t>((score + kFastCut) / kBinWidth);
      histogram.counts[std::min(bin, kBins - 1)] += 1;
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
  const double inside =
      1 - student_tail(kFastCut / scale, degrees) - student_tail(kSlowCut / scale, degrees);
  double sum = histogram.size * (log_norm(degrees) - std::log(scale) - std::log(inside));
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (histogram.counts[bin] > 0) {
      const double x = middle_of(bin) / scale;
      sum -= histogram.counts[bin] * 0.5 * (degrees + 1) * std::log1p(x * x / degrees);
    }
  }
  return sum;
}

// The spread that scores are in units of is estimated, and without what lies far out.
constexpr double kScaleLogSigma = 0.07;
constexpr std::array<double, 7> kScaleSteps{-2.25, -1.5, -0.75, 0, 0.75, 1.5, 2.25};

double log_likelihood(const Histogram& histogram, std::size_t place, double step) {
  const double degrees = tail_grid()[place];
  return log_likelihood(histogram, degrees, scale_of(degrees) * std::exp(kScaleLogSigma * step)) -
         0.5 * step * step;
}

// What is believed before any run weighs as much as so many metrics.
constexpr double kBelievedMetrics = 1.2;
constexpr int kRounds = 250;

void normalise(std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) {
    sum += weight;
  }
  for (double& weight : weights) {
    weight /= sum;
  }
}

// Likelihoods of each place in the grid, up to a common factor.
std::vector<double> likelihoods_of(const std::vector<double>& scores) {
  const Histogram histogram = histogram_of(scores);
  std::vector<double> logs;
  for (std::size_t place = 0; place < tail_grid().size(); ++place) {
    double best = -HUGE_VAL;
    for (const double step : kScaleSteps) {
      best = std::max(best, log_likelihood(histogram, place, step));
    }
    logs.push_back(best);
  }
  const double largest = *std::ranges::max_element(logs);
  for (double& value : logs) {
    value = std::exp(value - largest);
  }
  return logs;
}

}  // namespace

double Tail::mean_degrees() const {
  double mean = 0;
  for (const Component& component : components) {
    mean += component.weight * std::log(component.degrees);
  }
  return std::exp(mean);
}

const std::vector<double>& tail_grid() {
  static const std::vector<double> grid = [] {
    std::vector<double> result;
    for (double degrees = kFewestDegrees; degrees <= kMostTailDegrees; degrees *= kGridRatio) {
      result.push_back(degrees);
    }
    return result;
  }();
  return grid;
}

TailPrior expected_tail(double degrees, double log_sigma) {
  TailPrior prior;
  for (const double candidate : tail_grid()) {
    const double distance = std::log(candidate / degrees) / log_sigma;
    prior.weights.push_back(std::exp(-0.5 * distance * distance));
  }
  normalise(prior.weights);
  return prior;
}

// Expectation maximisation of the weights of a mixture whose components are given.
TailPrior learn_tails(const std::vector<std::vector<double>>& scores, const TailPrior& expected) {
  std::vector<std::vector<double>> likelihoods;
  for (const auto& of_metric : scores) {
    likelihoods.push_back(likelihoods_of(of_metric));
  }
  TailPrior prior = expected;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> next;
    for (const double weight : expected.weights) {
      next.push_back(kBelievedMetrics * weight);
    }
    for (const auto& of_metric : likelihoods) {
      std::vector<double> posterior;
      for (std::size_t place = 0; place < of_metric.size(); ++place) {
        posterior.push_back(of_metric[place] * prior.weights[place]);
      }
      normalise(posterior);
      for (std::size_t place = 0; place < next.size(); ++place) {
        next[place] += posterior[place];
      }
    }
    normalise(next);
    prior.weights = std::move(next);
  }
  return prior;
}

Tail fit_tail(const std::vector<double>& scores, const TailPrior& prior) {
  const Histogram histogram = histogram_of(scores);
  Tail tail;
  double largest = -HUGE_VAL;
  for (std::size_t place = 0; place < tail_grid().size(); ++place) {
    if (prior.weights[place] <= 0) {
      continue;
    }
    for (const double step : kScaleSteps) {
      const double degrees = tail_grid()[place];
      const double posterior =
          log_likelihood(histogram, place, step) + std::log(prior.weights[place]);
      tail.components.push_back(
          {degrees, scale_of(degrees) * std::exp(kScaleLogSigma * step), posterior});
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
