#include "harness/detect/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fleetbench::detect {
namespace {

// Twice the rank of each difference, so that shared ranks are whole numbers. In the order of size.
std::vector<std::size_t> doubled_ranks(const std::vector<double>& by_size) {
  std::vector<std::size_t> ranks;
  for (std::size_t first = 0; first < by_size.size();) {
    std::size_t end = first;
    while (end < by_size.size() && std::abs(by_size[end]) == std::abs(by_size[first])) {
      ++end;
    }
    ranks.resize(end, first + end + 1);
    first = end;
  }
  return ranks;
}

}  // namespace

double signed_rank_p(std::vector<double> differences) {
  std::erase(differences, 0.0);
  std::ranges::sort(differences, {}, [](double d) { return std::abs(d); });
  const std::vector<std::size_t> ranks = doubled_ranks(differences);
  std::vector<double> probability{1};  // of each sum of the ranks of what lies above 0
  std::size_t observed = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    observed += differences[i] > 0 ? ranks[i] : 0;
    std::vector<double> next(probability.size() + ranks[i], 0.0);
    for (std::size_t sum = 0; sum < probability.size(); ++sum) {
      next[sum] += 0.5 * probability[sum];
      next[sum + ranks[i]] += 0.5 * probability[sum];
    }
    probability = std::move(next);
  }
  double p = 0;
  for (std::size_t sum = observed; sum < probability.size(); ++sum) {
    p += probability[sum];
  }
  return p;
}

}  // namespace fleetbench::detect
