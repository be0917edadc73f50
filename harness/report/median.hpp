// Medians of what was measured.
#pragma once

#include <optional>
#include <vector>

namespace fleetbench::report {

// Of an even number of values the mean of the two in the middle; none of none.
std::optional<double> median(std::vector<double> values);

// Of an even number of values the lower of the two, so that of two values a bad one does not count.
std::optional<double> lower_median(std::vector<double> values);

}  // namespace fleetbench::report
