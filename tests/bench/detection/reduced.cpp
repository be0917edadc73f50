#include "tests/bench/detection/reduced.hpp"

#include <algorithm>
#include <numbers>

namespace fleetbench::bench {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Values2 medians(const simulation::Fleet& fleet) {
  const int passes = fleet.spec.passes;
  Values2 result;
  for (const std::vector<double>& measured : fleet.measured) {
    std::vector<double> of_metric;
    of_metric.reserve(measured.size() / passes);
    for (auto at = measured.begin(); at != measured.end(); at += passes) {
      of_metric.push_back(median_of({at, at + passes}));
    }
    result.push_back(std::move(of_metric));
  }
  return result;
}

double median_variance(int passes) {
  static const std::vector<double> exact{1, 1, 0.5, 0.4487, 0.2982, 0.2868};
  return passes < std::ssize(exact) ? exact[passes] : std::numbers::pi / 2 / passes;
}

}  // namespace fleetbench::bench
