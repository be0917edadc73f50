#include "harness/detect/tails.hpp"

#include <algorithm>
#include <cmath>

#include "harness/detect/normal.hpp"
#include "harness/detect/tail_shapes.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kFewestDegrees = 2.8;
constexpr double kGridRatio = 1.15;
// Components that weigh less change nothing.
constexpr double kLeastWeight = 5e-3;
constexpr double kSmallestQuantile = 1e-3;
constexpr double kLargestQuantile = 1e12;

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
  const ScoreHistogram histogram(scores);
  std::vector<double> logs;
  for (const std::vector<TailShape>& of_place : tail_shapes()) {
    double best = -HUGE_VAL;
    for (const TailShape& shape : of_place) {
      best = std::max(best, shape.log_likelihood(histogram));
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
    mean += component.weight * std::log(component.shape->degrees());
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
  const ScoreHistogram histogram(scores);
  Tail tail;
  double largest = -HUGE_VAL;
  for (std::size_t place = 0; place < tail_grid().size(); ++place) {
    if (prior.weights[place] <= 0) {
      continue;
    }
    for (const TailShape& shape : tail_shapes()[place]) {
      const double posterior = shape.log_likelihood(histogram) + std::log(prior.weights[place]);
      tail.components.push_back({&shape, posterior});
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
    p += component.weight * component.shape->tail(z);
  }
  return std::max(normal_tail(z), p);
}

// Regula falsi (Illinois): log p is nearly linear in log z.
double tail_quantile(const Tail& tail, double p) {
  const auto excess = [&](double log_z) {
    return std::log(tail_probability(tail, std::exp(log_z)) / p);
  };
  double low = std::log(std::max(kSmallestQuantile, normal_quantile(p)));
  double above = excess(low);
  if (above <= 0) {
    return std::exp(low);
  }
  double high = low;
  double below = above;
  while (below > 0 && high < std::log(kLargestQuantile)) {
    high += std::log(2);
    below = excess(high);
  }
  bool last_was_low = false;
  for (int round = 0; round < 60 && high - low > 1e-7 && below < 0; ++round) {
    const double middle = low + (high - low) * above / (above - below);
    const double there = excess(middle);
    const bool is_low = there > 0;
    (is_low ? low : high) = middle;
    (is_low ? above : below) = there;
    if (round > 0 && is_low == last_was_low) {
      (is_low ? below : above) /= 2;
    }
    last_was_low = is_low;
  }
  return std::exp(below < 0 ? low + (high - low) * above / (above - below) : high);
}

double tail_degrees(const std::vector<double>& scores) { return fit_tail(scores).mean_degrees(); }

}  // namespace fleetbench::detect
