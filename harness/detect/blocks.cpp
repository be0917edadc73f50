#include "harness/detect/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "harness/detect/block_edges.hpp"
#include "harness/detect/matching_blocks.hpp"
#include "harness/detect/pair_levels.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kWidened = 1.25;     // by what a gap is one: the next length over the last
constexpr double kMostOfNodes = 0.8;  // have to see that across is slower than within
constexpr double kMostKnown = 0.9;    // of the pairs of rows

// Edges of the shortest tree over the rows, by length, without those to rows of which too little is
// known; empty where that is so of many.
std::vector<Edge> shortest_tree(const PairLevels& levels) {
  const std::size_t n = levels.rows().size();
  std::vector<Edge> tree;
  std::vector<Edge> nearest(n, Edge{0, 0, std::numeric_limits<double>::infinity()});
  std::vector<bool> in(n);
  std::size_t unknown = 0;
  std::size_t last = 0;
  in[0] = true;
  for (std::size_t round = 1; round < n; ++round) {
    std::size_t next = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (in[i]) {
        continue;
      }
      const double length = levels.unlike(last, i);
      unknown += std::isnan(length);
      if (length < nearest[i].length) {
        nearest[i] = {last, i, length};
      }
      next = next == n || nearest[i].length < nearest[next].length ? i : next;
    }
    in[next] = true;
    if (std::isfinite(nearest[next].length)) {
      tree.push_back(nearest[next]);
    }
    last = next;
  }
  const double pairs = 0.5 * static_cast<double>(n) * static_cast<double>(n - 1);
  if (static_cast<double>(unknown) > (1 - kMostKnown) * pairs) {
    return {};
  }
  std::ranges::stable_sort(tree, {}, &Edge::length);
  return tree;
}

// Whether the rows' pairs with other blocks are slower than those within their own.
bool across_is_slower(const PairLevels& levels, const std::vector<int>& group, double least) {
  std::vector<double> differences;
  std::size_t slower = 0;
  for (std::size_t row = 0; row < group.size(); ++row) {
    std::vector<double> within;
    std::vector<double> across;
    for (std::size_t other = 0; other < group.size(); ++other) {
      const double x = levels.at(row, levels.rows()[other]);
      if (group[row] >= 0 && group[other] >= 0 && !std::isnan(x)) {
        (group[row] == group[other] ? within : across).push_back(x);
      }
    }
    if (!within.empty() && !across.empty()) {
      differences.push_back(median(std::move(across)) - median(std::move(within)));
      slower += differences.back() >= least / 2;
    }
  }
  const auto of_all = static_cast<double>(differences.size());
  return !differences.empty() && static_cast<double>(slower) >= kMostOfNodes * of_all &&
         median(std::move(differences)) >= least;
}

// By row; empty where no cut makes blocks. The coarsest cut that does counts. Where rows hang on
// nothing known, that is the widest gap.
Blocked cut_tree(const PairLevels& levels, const std::vector<Edge>& tree, double least) {
  const bool is_broken = tree.size() + 1 < levels.rows().size();
  std::vector<std::size_t> places(tree.size() + (is_broken ? 1 : 0));
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto widened = [&](std::size_t k) {
    return k == 0             ? 0
           : k == tree.size() ? std::numeric_limits<double>::infinity()
                              : tree[k].length / std::max(tree[k - 1].length, 1e-12);
  };
  std::ranges::stable_sort(places, std::greater<>(), widened);
  constexpr std::size_t kTries = 5;
  for (std::size_t i = 0; i < std::min(kTries, places.size()); ++i) {
    if (widened(places[i]) < kWidened) {
      break;
    }
    Blocked cut = blocks_joined(levels.rows().size(), std::span(tree).first(places[i]));
    if (cut.blocks >= 2 && across_is_slower(levels, cut.block, least)) {
      return cut;
    }
  }
  return {};
}

// Every node that was measured joins the block whose rows it is most alike.
std::vector<int> assign_all(const PairLevels& levels, const std::vector<int>& group, int nodes,
                            int blocks) {
  constexpr std::size_t kCompared = 8;  // rows of a block
  std::vector<int> block(static_cast<std::size_t>(nodes), -1);
  for (std::size_t row = 0; row < group.size(); ++row) {
    block[levels.rows()[row]] = group[row];
  }
  for (const int node : levels.met()) {
    if (block[node] >= 0) {
      continue;
    }
    double best = std::numeric_limits<double>::infinity();
    block[node] = 0;
    for (int b = 0; b < blocks; ++b) {
      std::vector<double> unlike;
      for (std::size_t row = 0; row < group.size() && unlike.size() < kCompared; ++row) {
        const double d = group[row] == b ? levels.unlike_node(node, row) : kUnknown;
        if (!std::isnan(d)) {
          unlike.push_back(d);
        }
      }
      if (!unlike.empty() && median(unlike) < best) {
        best = median(std::move(unlike));
        block[node] = b;
      }
    }
  }
  return block;
}

}  // namespace

BlockSearch find_blocks(int nodes, const std::vector<PairValue>& pairs, double least) {
  const PairLevels levels(nodes, pairs);
  BlockSearch search;
  if (levels.met().size() < 2 * kSmallestBlock) {
    return search;
  }
  const std::vector<Edge> tree = shortest_tree(levels);
  if (tree.empty()) {
    return blocks_of_matchings(nodes, pairs);
  }
  search.looked_for = true;
  const Blocked cut = cut_tree(levels, tree, least);
  if (cut.blocks > 0) {
    search.blocks = cut.blocks;
    search.block = assign_all(levels, cut.block, nodes, cut.blocks);
  }
  return search;
}

}  // namespace fleetbench::detect
