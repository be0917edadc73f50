#include "harness/report/node_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "harness/report/median.hpp"

namespace fleetbench::report {
namespace {

constexpr double kApart = 2.5;
constexpr double kLeastApart = 0.05;  // on the log scale, as the next
constexpr double kStep = 0.02;

using Group = std::vector<std::size_t>;
using Distances = std::vector<std::vector<std::optional<double>>>;

double difference(double a, double b) { return std::abs(std::log(a) - std::log(b)); }

std::optional<double> distance(const PairSpeeds& speeds, std::size_t a, std::size_t b) {
  std::vector<double> rows;
  std::vector<double> columns;
  for (std::size_t k = 0; k < speeds.size(); ++k) {
    if (k == a || k == b) {
      continue;
    }
    if (speeds[a][k] && speeds[b][k]) {
      rows.push_back(difference(*speeds[a][k], *speeds[b][k]));
    }
    if (speeds[k][a] && speeds[k][b]) {
      columns.push_back(difference(*speeds[k][a], *speeds[k][b]));
    }
  }
  return std::max(lower_median(std::move(rows)), lower_median(std::move(columns)));
}

Distances distances_of(const PairSpeeds& speeds) {
  const std::size_t nodes = speeds.size();
  Distances distances(nodes, std::vector<std::optional<double>>(nodes));
  for (std::size_t a = 0; a < nodes; ++a) {
    for (std::size_t b = a + 1; b < nodes; ++b) {
      distances[a][b] = distances[b][a] = distance(speeds, a, b);
    }
  }
  return distances;
}

// Infinite where no two of them share a partner.
double distance_between(const Distances& distances, const Group& one, const Group& other) {
  double sum = 0;
  std::size_t count = 0;
  for (const std::size_t a : one) {
    for (const std::size_t b : other) {
      sum += distances[a][b].value_or(0);
      count += distances[a][b] ? 1 : 0;
    }
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::infinity();
}

struct Nearest {
  std::size_t one = 0;
  std::size_t other = 0;
  double apart = std::numeric_limits<double>::infinity();
};

Nearest nearest_two(const Distances& distances, const std::vector<Group>& groups) {
  Nearest nearest;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = i + 1; j < groups.size(); ++j) {
      const double apart = distance_between(distances, groups[i], groups[j]);
      if (apart < nearest.apart) {
        nearest = {i, j, apart};
      }
    }
  }
  return nearest;
}

// Joins the nearest groups while they are no further apart than this, and notes how far they were.
std::vector<Group> joined(const Distances& distances, double most_apart,
                          std::vector<double>& heights) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    groups.push_back({i});
  }
  while (groups.size() > 1) {
    const Nearest nearest = nearest_two(distances, groups);
    if (nearest.apart > most_apart || std::isinf(nearest.apart)) {
      break;
    }
    heights.push_back(nearest.apart);
    Group& one = groups[nearest.one];
    const Group& other = groups[nearest.other];
    one.insert(one.end(), other.begin(), other.end());
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(nearest.other));
  }
  return groups;
}

std::vector<Group> groups_of(const PairSpeeds& speeds) {
  const Distances distances = distances_of(speeds);
  std::vector<double> heights;
  joined(distances, std::numeric_limits<double>::infinity(), heights);
  const double usual = lower_median(heights).value_or(0);
  return joined(distances, std::max(kLeastApart, kApart * usual), heights);
}

// Mean of a node's row and column; of one without any, less than any other's.
std::vector<double> averages_of(const PairSpeeds& speeds) {
  std::vector<double> averages;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t k = 0; k < speeds.size(); ++k) {
      for (const auto& speed : {speeds[i][k], speeds[k][i]}) {
        sum += speed ? std::log(*speed) : 0;
        count += speed ? 1 : 0;
      }
    }
    averages.push_back(count > 0 ? sum / static_cast<double>(count)
                                 : -std::numeric_limits<double>::infinity());
  }
  return averages;
}

void sort_by_average(const std::vector<double>& averages, Group& group) {
  double best = -std::numeric_limits<double>::infinity();
  for (const std::size_t node : group) {
    best = std::max(best, averages[node]);
  }
  std::ranges::sort(group);
  std::ranges::stable_sort(group, {}, [&](std::size_t node) {
    return std::isinf(averages[node]) ? std::numeric_limits<double>::infinity()
                                      : std::floor((best - averages[node]) / kStep);
  });
}

}  // namespace

std::vector<std::size_t> order_by_likeness(const PairSpeeds& speeds) {
  const std::vector<double> averages = averages_of(speeds);
  std::vector<Group> groups = groups_of(speeds);
  Group alone;
  std::erase_if(groups, [&](const Group& group) {
    if (group.size() == 1) {
      alone.push_back(group.front());
    }
    return group.size() == 1;
  });
  std::ranges::stable_sort(groups, [](const Group& a, const Group& b) {
    return a.size() != b.size() ? a.size() > b.size() : std::ranges::min(a) < std::ranges::min(b);
  });
  groups.push_back(std::move(alone));
  std::vector<std::size_t> order;
  for (Group& group : groups) {
    sort_by_average(averages, group);
    order.insert(order.end(), group.begin(), group.end());
  }
  return order;
}

}  // namespace fleetbench::report
