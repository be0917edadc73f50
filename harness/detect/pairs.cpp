#include "harness/detect/pairs.hpp"

#include <algorithm>
#include <cmath>

#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr int kRounds = 50;
constexpr double kSettled = 1e-9;

// The effects are unknowns 0 … n-1, and n … 2n-1 for what directed pairs receive; each pair joins
// two of them. `kept` are those that can be told.
struct Graph {
  bool symmetric = false;
  int nodes = 0;
  const std::vector<PairValue>* pairs = nullptr;
  std::vector<bool> kept;

  int first(const PairValue& pair) const { return pair.from; }
  int second(const PairValue& pair) const { return symmetric ? pair.to : nodes + pair.to; }
  bool uses(const PairValue& pair) const { return kept[first(pair)] && kept[second(pair)]; }
};

// Drops unknowns with too few partners until all that are left have enough among each other.
void keep_core(Graph& graph) {
  for (bool changed = true; changed;) {
    std::vector<int> partners(graph.kept.size());
    for (const PairValue& pair : *graph.pairs) {
      if (graph.uses(pair)) {
        ++partners[graph.first(pair)];
        ++partners[graph.second(pair)];
      }
    }
    changed = false;
    for (std::size_t k = 0; k < partners.size(); ++k) {
      if (graph.kept[k] && partners[k] < kFewestPartners) {
        graph.kept[k] = false;
        changed = true;
      }
    }
  }
}

// Whether all kept unknowns can be told from each other: they hang together, and, where one kind
// of effect stands at both ends, some ring of pairs is odd (else a shift of every other node fits).
bool identifiable(const Graph& graph) {
  std::vector<int> colour(graph.kept.size());
  const auto start = std::find(graph.kept.begin(), graph.kept.end(), true);
  if (start == graph.kept.end()) {
    return true;
  }
  colour[static_cast<std::size_t>(start - graph.kept.begin())] = 1;
  bool odd_ring = false;
  for (bool grew = true; grew;) {
    grew = false;
    for (const PairValue& pair : *graph.pairs) {
      if (!graph.uses(pair)) {
        continue;
      }
      int& a = colour[graph.first(pair)];
      int& b = colour[graph.second(pair)];
      if ((a == 0) != (b == 0)) {
        (a == 0 ? a : b) = a == 0 ? -b : -a;
        grew = true;
      }
      odd_ring = odd_ring || (a != 0 && a == b);
    }
  }
  for (std::size_t k = 0; k < colour.size(); ++k) {
    if (graph.kept[k] && colour[k] == 0) {
      return false;
    }
  }
  return odd_ring || !graph.symmetric;
}

std::vector<std::vector<double>> residuals_by_unknown(const Graph& graph, double base,
                                                      const std::vector<double>& effects) {
  std::vector<std::vector<double>> residuals(effects.size());
  for (const PairValue& pair : *graph.pairs) {
    if (graph.uses(pair)) {
      const int u = graph.first(pair);
      const int v = graph.second(pair);
      const double residual = pair.x - base - effects[u] - effects[v];
      residuals[u].push_back(residual);
      residuals[v].push_back(residual);
    }
  }
  return residuals;
}

// Makes the median effect of [begin, end) 0 and returns what it was.
double centre(const std::vector<bool>& kept, std::vector<double>& effects, std::size_t begin,
              std::size_t end) {
  std::vector<double> present;
  for (std::size_t k = begin; k < end; ++k) {
    if (kept[k]) {
      present.push_back(effects[k]);
    }
  }
  const double middle = median(present);
  for (std::size_t k = begin; k < end; ++k) {
    effects[k] -= kept[k] ? middle : 0;
  }
  return middle;
}

void polish(const Graph& graph, double& base, std::vector<double>& effects) {
  const auto n = static_cast<std::size_t>(graph.nodes);
  for (int round = 0; round < kRounds; ++round) {
    const auto residuals = residuals_by_unknown(graph, base, effects);
    double largest = 0;
    for (std::size_t k = 0; k < effects.size(); ++k) {
      const double step = 0.5 * median(residuals[k]);
      effects[k] += step;
      largest = std::max(largest, std::abs(step));
    }
    if (graph.symmetric) {
      base += 2 * centre(graph.kept, effects, 0, n);
    } else {
      base += centre(graph.kept, effects, 0, n) + centre(graph.kept, effects, n, 2 * n);
    }
    if (largest < kSettled) {
      return;
    }
  }
}

// Every node as its best link shows it: right where several slow nodes meet, which the median over
// few partners is not, and wrong where one link is too good.
std::vector<double> best_links(const Graph& graph, double base) {
  std::vector<double> effects(graph.kept.size());
  const auto values = residuals_by_unknown(graph, base, effects);
  for (std::size_t k = 0; k < effects.size(); ++k) {
    effects[k] = values[k].empty() ? 0 : std::ranges::min(values[k]);
  }
  return effects;
}

// Sum of |x - expected|. Where two slow nodes meet, anything from the slower of the two effects
// (the slower end limits) to their sum (one end waits for the other) is as expected.
double misfit(const Graph& graph, double base, const std::vector<double>& effects) {
  double sum = 0;
  for (const PairValue& pair : *graph.pairs) {
    if (!graph.uses(pair)) {
      continue;
    }
    const double u = effects[graph.first(pair)];
    const double v = effects[graph.second(pair)];
    const double low = std::min(u + v, std::max(u, v));
    const double high = u + v;
    const double x = pair.x - base;
    sum += std::max({0.0, low - x, x - high});
  }
  return sum;
}

// A fit that starts elsewhere has to be better by this much to be preferred, so that noise does
// not choose.
constexpr double kBetter = 0.9;

void polish_from_best_start(const Graph& graph, double& base, std::vector<double>& effects) {
  double other_base = base;
  std::vector<double> other = best_links(graph, other_base);
  polish(graph, base, effects);
  polish(graph, other_base, other);
  if (misfit(graph, other_base, other) < kBetter * misfit(graph, base, effects)) {
    base = other_base;
    effects = std::move(other);
  }
}

double overall_median(const std::vector<PairValue>& pairs) {
  std::vector<double> values;
  for (const PairValue& pair : pairs) {
    values.push_back(pair.x);
  }
  return median(std::move(values));
}

}  // namespace

PairFit fit_pairs(int nodes, const std::vector<PairValue>& pairs, bool symmetric) {
  const auto unknowns = static_cast<std::size_t>(symmetric ? nodes : 2 * nodes);
  Graph graph{symmetric, nodes, &pairs, std::vector<bool>(unknowns, true)};
  keep_core(graph);
  PairFit fit;
  fit.base = overall_median(pairs);
  if (!identifiable(graph)) {
    fit.disconnected = true;
    graph.kept.assign(unknowns, false);
  }
  std::vector<double> effects(unknowns);
  const auto kept = std::count(graph.kept.begin(), graph.kept.end(), true);
  if (kept > 0) {
    polish_from_best_start(graph, fit.base, effects);
    fit.parameters = static_cast<int>(kept) - (symmetric ? 0 : 1);
  }
  const auto n = static_cast<std::ptrdiff_t>(nodes);
  const auto half = symmetric ? 0 : n;
  fit.sends.assign(effects.begin(), effects.begin() + n);
  fit.receives.assign(effects.begin() + half, effects.begin() + half + n);
  fit.sends_fitted.assign(graph.kept.begin(), graph.kept.begin() + n);
  fit.receives_fitted.assign(graph.kept.begin() + half, graph.kept.begin() + half + n);
  return fit;
}

}  // namespace fleetbench::detect
