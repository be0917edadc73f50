#include "harness/plan/grouping.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace fleetbench::plan {
namespace {

int number_of_groups(int nodes, int size) {
  const int nearest = (nodes + size / 2) / size;
  return std::clamp(nearest, 2, nodes / 2);
}

std::vector<Group> split(const std::vector<int>& order, int groups) {
  std::vector<Group> result;
  auto begin = order.begin();
  for (int left = groups; left > 0; --left) {
    const auto rest = static_cast<int>(order.end() - begin);
    const auto end = begin + (rest + left - 1) / left;
    result.emplace_back(begin, end);
    begin = end;
  }
  return result;
}

}  // namespace

std::vector<std::vector<Group>> shuffled_groups(int nodes, int size, int rounds,
                                                std::uint64_t seed) {
  std::vector<std::vector<Group>> result;
  if (nodes < kFewestToGroup) {
    return result;
  }
  std::mt19937_64 generator(seed);
  std::vector<int> order(static_cast<std::size_t>(nodes));
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), generator);
    result.push_back(split(order, number_of_groups(nodes, size)));
  }
  return result;
}

}  // namespace fleetbench::plan
