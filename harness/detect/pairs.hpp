// Which node makes its links slow: a model of a matrix of pairs with one effect a node.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

namespace fleetbench::detect {

struct PairValue {
  int from = 0;
  int to = 0;
  double x = 0;  // log scale, positive is slow
};

// x = base + sends[from] + receives[to] for directed pairs, and for symmetric ones, where
// both vectors are the same, base + effect[from] + effect[to]. An effect of 0 is the median node.
// Where both ends are slow by more than `limit_from`, the slower one counts alone: bandwidth is
// that of the narrower end.
struct PairFit {
  double base = 0;
  std::vector<double> sends;
  std::vector<double> receives;
  std::vector<bool> sends_fitted;  // false: too few partners to tell, the effect is 0
  std::vector<bool> receives_fitted;
  double limit_from = std::numeric_limits<double>::infinity();
  int parameters = 1;
  bool disconnected = false;  // groups of nodes that share no pair: no effect is fitted

  double expected(int from, int to) const {
    const double u = sends[from];
    const double v = receives[to];
    return base + (std::min(u, v) > limit_from ? std::max(u, v) : u + v);
  }
  bool fitted_any() const { return parameters > 1; }
};

// Fewest partners from which an effect is told: with two, one bad link looks like a bad node.
inline constexpr int kFewestPartners = 3;

// Median polish, damped (half old, half new) so that it cannot swing between two solutions, at
// most 50 rounds. `pairs` holds each pair at most once. Of slow nodes that meet it takes the form,
// sum or slower end, that leaves less. A round takes time in proportion to the pairs.
PairFit fit_pairs(int nodes, const std::vector<PairValue>& pairs, bool symmetric);

}  // namespace fleetbench::detect
