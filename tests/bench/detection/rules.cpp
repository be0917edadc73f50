#include "tests/bench/detection/rules.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/bench/detection/reduced.hpp"

namespace fleetbench::bench {
namespace {

using Table = std::vector<std::vector<double>>;
using Slow = std::vector<bool>;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> means(const Table& performance) {
  std::vector<double> result;
  for (const std::vector<double>& of_subject : performance) {
    result.push_back(mean_of(of_subject));
  }
  return result;
}

Slow under(const std::vector<double>& values, double limit) {
  Slow slow;
  for (const double value : values) {
    slow.push_back(value < limit);
  }
  return slow;
}

Slow five_percent(const Table& performance) {
  const auto values = means(performance);
  return under(values, 0.95 * mean_of(values));
}

Slow three_sigma(const Table& performance) {
  const auto values = means(performance);
  const double centre = mean_of(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - centre) * (value - centre);
  }
  const double sigma = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return under(values, centre - 3 * sigma);
}

Slow modified_z(const Table& performance) {
  const auto values = means(performance);
  const double centre = median_of(values);
  std::vector<double> distances;
  for (const double value : values) {
    distances.push_back(std::abs(value - centre));
  }
  return under(values, centre - 3.5 / 0.6745 * median_of(distances));
}

Slow iterated_mean(const Table& performance) {
  const auto values = means(performance);
  Slow slow(values.size(), false);
  for (bool changed = true; changed;) {
    double sum = 0;
    int kept = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += slow[i] ? 0 : values[i];
      kept += slow[i] ? 0 : 1;
    }
    const Slow now = under(values, 0.95 * sum / kept);
    changed = now != slow && std::ranges::count(now, false) > 0;
    slow = changed ? now : slow;
  }
  return slow;
}

// One minus the area between two cumulative distributions, as a share of the largest value: for
// samples of one size, the mean distance of values of equal rank.
double similarity(const std::vector<double>& a, const std::vector<double>& b) {
  double area = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    area += std::abs(a[i] - b[i]);
  }
  return 1 - area / static_cast<double>(a.size()) / std::max(a.back(), b.back());
}

std::size_t most_similar(const Table& sorted, const Slow& slow) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; !slow[i] && j < sorted.size(); ++j) {
      sum += slow[j] ? 0 : similarity(sorted[i], sorted[j]);
    }
    if (sum > most) {
      most = sum;
      best = i;
    }
  }
  return best;
}

// The distribution most similar to all others is the norm; who is less similar to it than 0.95, and
// slower, is left out; again until nobody is.
Slow distribution(const Table& performance) {
  Table sorted = performance;
  for (auto& of_subject : sorted) {
    std::ranges::sort(of_subject);
  }
  Slow slow(sorted.size(), false);
  for (bool changed = true; changed;) {
    const auto& norm = sorted[most_similar(sorted, slow)];
    changed = false;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (!slow[i] && similarity(sorted[i], norm) < 0.95 && mean_of(sorted[i]) < mean_of(norm)) {
        slow[i] = changed = true;
      }
    }
  }
  return slow;
}

Slow twice_as_slow(const Table& performance) {
  const auto values = means(performance);
  return under(values, median_of(values) / 2);
}

// Times as they are used by these rules: the inverse is a rate.
Table performance_of(const simulation::Fleet& fleet, std::size_t metric, int subjects) {
  const int passes = fleet.spec.passes;
  const bool time = fleet.metrics[metric].info.better == Better::lower;
  Table table;
  for (int i = 0; i < subjects; ++i) {
    std::vector<double> of_subject;
    for (int pass = 0; pass < passes; ++pass) {
      const double value = raw_value(fleet, metric, fleet.measured[metric][i * passes + pass]);
      of_subject.push_back(time ? 1 / value : value);
    }
    table.push_back(std::move(of_subject));
  }
  return table;
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{{"mean -5 %", five_percent},  {"3 sigma", three_sigma},
                                     {"MAD 3.5", modified_z},      {"iterated mean", iterated_mean},
                                     {"similarity", distribution}, {"2x median", twice_as_slow}};
  return all;
}

Flags apply(const Rule& rule, const simulation::Fleet& fleet) {
  Flags flags;
  for (const simulation::Group& group : fleet.groups) {
    std::vector<bool> of_nodes(static_cast<std::size_t>(fleet.spec.nodes), false);
    for (std::size_t m = group.first; m < group.first + group.count; ++m) {
      const Slow slow = rule.slow(performance_of(fleet, m, fleet.subjects(group)));
      for (std::size_t i = 0; i < slow.size(); ++i) {
        const std::size_t node = i / static_cast<std::size_t>(fleet.per_node(group));
        of_nodes[node] = of_nodes[node] || slow[i];
      }
    }
    flags.push_back(std::move(of_nodes));
  }
  return flags;
}

bool any(const Flags& flags) {
  return std::ranges::any_of(
      flags, [](const auto& of_nodes) { return std::ranges::count(of_nodes, true) > 0; });
}

}  // namespace fleetbench::bench
