// Unlabelled mixtures: two kinds of subjects in one cohort.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace fleetbench::detect {

struct Split {
  double border = 0;  // the slow ones lie above
  std::size_t slow = 0;
  std::size_t fast = 0;
};

// Where the largest gap of the sorted values is over four times the spread within both sides, and
// the smaller side holds at least max(3, 10 %) of them: two populations, not outliers. Values that
// are no numbers do not count.
std::optional<Split> split_of(std::vector<double> values);

}  // namespace fleetbench::detect
