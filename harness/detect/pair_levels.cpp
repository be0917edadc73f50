#include "harness/detect/pair_levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostRows = 128;     // nodes that stand for all
constexpr std::size_t kMostPartners = 48;  // of two nodes, that are compared

// Mean distance from the median, without the two largest: each of the two may have a slow link.
double spread(std::vector<double> apart) {
  if (apart.size() < kFewestCommon) {
    return kUnknown;
  }
  const double middle = median(apart);
  for (double& d : apart) {
    d = std::abs(d - middle);
  }
  std::ranges::sort(apart);
  apart.resize(apart.size() - (apart.size() >= 2 * kFewestCommon ? 2 : 1));
  return std::accumulate(apart.begin(), apart.end(), 0.0) / static_cast<double>(apart.size());
}

}  // namespace

PairLevels::PairLevels(int nodes, const std::vector<PairValue>& pairs)
    : nodes_(static_cast<std::size_t>(nodes)) {
  std::vector<bool> met(nodes_);
  for (const PairValue& pair : pairs) {
    met[pair.from] = met[pair.to] = true;
  }
  for (std::size_t node = 0; node < nodes_; ++node) {
    if (met[node]) {
      met_.push_back(static_cast<int>(node));
    }
  }
  const std::size_t stride = (met_.size() + kMostRows - 1) / kMostRows;
  place_.assign(nodes_, -1);
  for (std::size_t i = 0; i < met_.size(); i += std::max<std::size_t>(1, stride)) {
    place_[met_[i]] = static_cast<int>(rows_.size());
    rows_.push_back(met_[i]);
  }
  fill(pairs);
}

void PairLevels::fill(const std::vector<PairValue>& pairs) {
  values_.assign(rows_.size() * nodes_, 0);
  std::vector<std::uint32_t> counts(values_.size());
  const auto add = [&](int row, int node, double x) {
    if (row >= 0) {
      const std::size_t at =
          static_cast<std::size_t>(row) * nodes_ + static_cast<std::size_t>(node);
      values_[at] += x;
      ++counts[at];
    }
  };
  for (const PairValue& pair : pairs) {
    add(place_[pair.from], pair.to, pair.x);
    add(place_[pair.to], pair.from, pair.x);
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values_[i] = counts[i] == 0 ? kUnknown : values_[i] / counts[i];
  }
}

std::vector<int> PairLevels::partners() const {
  if (met_.size() <= kMostPartners) {
    return met_;
  }
  std::vector<int> some;
  const double step = static_cast<double>(met_.size()) / kMostPartners;
  for (std::size_t i = 0; i < kMostPartners; ++i) {
    some.push_back(met_[static_cast<std::size_t>(static_cast<double>(i) * step)]);
  }
  return some;
}

double PairLevels::unlike(std::size_t a, std::size_t b) const {
  std::vector<double> apart;
  for (const int partner : partners()) {
    if (const double d = at(a, partner) - at(b, partner); !std::isnan(d)) {
      apart.push_back(d);
    }
  }
  return spread(std::move(apart));
}

double PairLevels::unlike_node(int node, std::size_t other) const {
  std::vector<double> apart;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (const double d = at(row, node) - at(other, rows_[row]); !std::isnan(d)) {
      apart.push_back(d);
    }
  }
  return spread(std::move(apart));
}

}  // namespace fleetbench::detect
