#include "harness/detect/table.hpp"

#include <algorithm>
#include <cmath>

namespace fleetbench::detect {

double to_x(double value, Better better) {
  return better == Better::lower ? std::log(value) : -std::log(value);
}

double to_value(double x, Better better) { return std::exp(better == Better::lower ? x : -x); }

double to_pct(double x) { return 100 * std::expm1(x); }

double slowdown_of_pct(double pct) { return std::log1p(pct / 100); }

std::optional<double> level(const Passes& x) {
  std::vector<double> present;
  for (const auto& value : x) {
    if (value) {
      present.push_back(*value);
    }
  }
  return present.empty() ? std::nullopt : std::optional(median(std::move(present)));
}

std::size_t count(const Passes& x) {
  return static_cast<std::size_t>(
      std::count_if(x.begin(), x.end(), [](const auto& value) { return value.has_value(); }));
}

void remove_drift(Table& table) {
  std::vector<std::optional<double>> drift(table.passes.size());
  std::vector<double> medians;
  for (std::size_t pass = 0; pass < table.passes.size(); ++pass) {
    std::vector<double> values;
    for (const Row& row : table.rows) {
      if (row.x[pass]) {
        values.push_back(*row.x[pass]);
      }
    }
    if (values.size() >= 3) {
      drift[pass] = median(std::move(values));
      medians.push_back(*drift[pass]);
    }
  }
  const double overall = median(medians);
  for (Row& row : table.rows) {
    for (std::size_t pass = 0; pass < drift.size(); ++pass) {
      if (row.x[pass] && drift[pass]) {
        *row.x[pass] -= *drift[pass] - overall;
      }
    }
  }
}

}  // namespace fleetbench::detect
