// The middle of a few values, one of them: for time limits, where no mean of two is wanted.
#pragma once

#include <algorithm>
#include <vector>

namespace fleetbench::plan {

// The upper of the middle two where their number is even. Precondition: not empty.
inline double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace fleetbench::plan
