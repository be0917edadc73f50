#include "tests/bench/detection/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fleetbench::bench {
namespace {

using simulation::Fleet;
using simulation::Group;

double variance(const Fleet& fleet, std::size_t metric) {
  const simulation::Metric& of = fleet.metrics[metric];
  return of.between * of.between + of.within * of.within * median_variance(fleet.spec.passes);
}

// By subject: the standardised weighted mean.
std::vector<double> layer_scores(const Fleet& fleet, const Values2& medians, const Group& group) {
  std::vector<double> scores(static_cast<std::size_t>(fleet.subjects(group)), 0);
  double precision = 0;
  for (std::size_t m = group.first; m < group.first + group.count; ++m) {
    const double weight = 1 / variance(fleet, m);
    precision += weight;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] += weight * medians[m][i];
    }
  }
  for (double& score : scores) {
    score /= std::sqrt(precision);
  }
  return scores;
}

std::vector<double> metric_scores(const Fleet& fleet, const Values2& medians, const Group& group) {
  std::vector<double> scores(static_cast<std::size_t>(fleet.subjects(group)),
                             -std::numeric_limits<double>::infinity());
  for (std::size_t m = group.first; m < group.first + group.count; ++m) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = std::max(scores[i], medians[m][i] / std::sqrt(variance(fleet, m)));
    }
  }
  return scores;
}

// The worst device, or all devices together where that is worse.
double node_score(const double* scores, int devices, bool together) {
  double sum = 0;
  double worst = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < devices; ++i) {
    sum += scores[i];
    worst = std::max(worst, scores[i]);
  }
  return together ? std::max(worst, sum / std::sqrt(devices)) : worst;
}

}  // namespace

Values2 oracle_scores(const Fleet& fleet, const Values2& medians, Focus focus) {
  Values2 result;
  for (const Group& group : fleet.groups) {
    const auto scores = focus == Focus::layer ? layer_scores(fleet, medians, group)
                                              : metric_scores(fleet, medians, group);
    const int each = fleet.per_node(group);
    std::vector<double> of_nodes;
    for (int node = 0; node < fleet.spec.nodes; ++node) {
      of_nodes.push_back(node_score(&scores[node * each], each, focus == Focus::layer));
    }
    result.push_back(std::move(of_nodes));
  }
  return result;
}

double largest(const Values2& scores) {
  double most = -std::numeric_limits<double>::infinity();
  for (const std::vector<double>& of_group : scores) {
    most = std::max(most, *std::ranges::max_element(of_group));
  }
  return most;
}

std::vector<double> precision_weights(const Fleet& fleet, const Group& group) {
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t m = group.first; m < group.first + group.count; ++m) {
    weights.push_back(1 / variance(fleet, m));
    sum += weights.back();
  }
  for (double& weight : weights) {
    weight /= sum;
  }
  return weights;
}

}  // namespace fleetbench::bench
