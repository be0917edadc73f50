#include "harness/detect/matching_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "harness/detect/block_edges.hpp"
#include "harness/detect/pair_levels.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kMostFitting = 0.9;  // of the pairs

double deviation_mean(const std::vector<double>& values, double centre) {
  double sum = 0;
  for (const double value : values) {
    sum += std::abs(value - centre) / static_cast<double>(values.size());
  }
  return sum;
}

// By how much x exceeds what is usual within a block or across.
struct Usual {
  double within = 0;
  double across = 0;
};

Usual usual_of(const std::vector<PairValue>& pairs, const std::vector<int>& block) {
  std::vector<double> within;
  std::vector<double> across;
  for (const PairValue& pair : pairs) {
    if (block[pair.from] >= 0 && block[pair.to] >= 0) {
      (block[pair.from] == block[pair.to] ? within : across).push_back(pair.x);
    }
  }
  return {median(std::move(within)), median(std::move(across))};
}

// How badly a node fits into a block: how much its pairs exceed the usual by unlike amounts, and a
// little, by how much they do. All of a node's partners can be of another block by chance.
double misfit(const std::vector<std::pair<int, double>>& partners, const std::vector<int>& block,
              int b, const Usual& usual) {
  constexpr double kLittle = 0.1;
  std::vector<double> excess;
  for (const auto& [partner, x] : partners) {
    if (block[partner] >= 0) {
      excess.push_back(x - (block[partner] == b ? usual.within : usual.across));
    }
  }
  const double middle = median(excess);
  return deviation_mean(excess, middle) + kLittle * std::abs(middle);
}

// Nodes of no block join the one that they fit best.
void join_fitting_blocks(const std::vector<PairValue>& pairs, int blocks, std::vector<int>& block) {
  const Usual usual = usual_of(pairs, block);
  std::map<int, std::vector<std::pair<int, double>>> partners;
  for (const PairValue& pair : pairs) {
    if (block[pair.from] < 0) {
      partners[pair.from].emplace_back(pair.to, pair.x);
    }
    if (block[pair.to] < 0) {
      partners[pair.to].emplace_back(pair.from, pair.x);
    }
  }
  const std::vector<int> known = block;
  for (const auto& [node, met] : partners) {
    double best = std::numeric_limits<double>::infinity();
    for (int b = 0; b < blocks; ++b) {
      if (const double m = misfit(met, known, b, usual); m < best) {
        best = m;
        block[node] = b;
      }
    }
  }
}

// Parts the levels in two such that they differ least within both parts (Fisher, Otsu). Slow nodes
// may lie in between, so no gap is asked for: whether the parts are blocks is seen from the pairs.
double border_of(std::vector<double> levels) {
  std::ranges::sort(levels);
  double sum = 0;
  for (const double level : levels) {
    sum += level;
  }
  double below = 0;
  double best = -1;
  double border = 0;
  for (std::size_t k = 1; k < levels.size(); ++k) {
    below += levels[k - 1];
    const auto low = static_cast<double>(k);
    const double high = static_cast<double>(levels.size()) - low;
    const double apart = (sum - below) / high - below / low;
    if (low * high * apart * apart > best) {
      best = low * high * apart * apart;
      border = 0.5 * (levels[k - 1] + levels[k]);
    }
  }
  return border;
}

}  // namespace

BlockSearch blocks_of_matchings(int nodes, const std::vector<PairValue>& pairs) {
  BlockSearch search;
  std::vector<double> levels;
  for (const PairValue& pair : pairs) {
    levels.push_back(pair.x);
  }
  const double border = border_of(std::move(levels));
  std::vector<Edge> fast;
  for (const PairValue& pair : pairs) {
    if (pair.x < border) {
      fast.push_back({static_cast<std::size_t>(pair.from), static_cast<std::size_t>(pair.to), 0});
    }
  }
  auto [block, blocks] = blocks_joined(static_cast<std::size_t>(nodes), fast);
  if (blocks < 2) {
    return {};
  }
  join_fitting_blocks(pairs, blocks, block);
  std::size_t known = 0;
  std::size_t across = 0;
  std::size_t fitting = 0;
  for (const PairValue& pair : pairs) {
    if (block[pair.from] >= 0 && block[pair.to] >= 0) {
      ++known;
      across += block[pair.from] != block[pair.to];
      fitting += (block[pair.from] == block[pair.to]) == (pair.x < border);
    }
  }
  if (across < kFewestCommon ||
      static_cast<double>(fitting) < kMostFitting * static_cast<double>(known)) {
    return {};
  }
  search.looked_for = true;
  search.block = std::move(block);
  search.blocks = blocks;
  return search;
}

}  // namespace fleetbench::detect
