#include "harness/detect/pairs.hpp"

#include <cmath>

#include "harness/detect/pair_graph.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr int kRounds = 50;
constexpr double kSettled = 1e-9;
// A step this much smaller than what chance moves a median of its pairs tells nothing more.
constexpr double kSettledShare = 0.01;
// From so many partners on, a median cannot be carried away by slow ones among them.
constexpr std::size_t kManyPartners = 64;

// Of what is in `values`, which it reorders.
double middle_of(std::vector<double>& values) {
  if (values.empty()) {
    return 0;
  }
  const auto upper = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), upper, values.end());
  return values.size() % 2 == 1 ? *upper
                                : 0.5 * (*upper + *std::max_element(values.begin(), upper));
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
  const double middle = middle_of(present);
  for (std::size_t k = begin; k < end; ++k) {
    effects[k] -= kept[k] ? middle : 0;
  }
  return middle;
}

void fill_residuals(const PairGraph& graph, double base, const std::vector<double>& effects,
                    std::vector<double>& residuals) {
  const auto& pairs = graph.pairs();
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    residuals[p] =
        pairs[p].x - base - effects[graph.first(pairs[p])] - effects[graph.second(pairs[p])];
  }
}

double settled_below(const PairGraph& graph, std::vector<double> residuals) {
  for (double& residual : residuals) {
    residual = std::abs(residual);
  }
  const double partners = static_cast<double>(std::max<std::size_t>(1, graph.most_pairs()));
  return std::max(kSettled, kSettledShare * middle_of(residuals) / std::sqrt(partners));
}

void polish(const PairGraph& graph, double& base, std::vector<double>& effects) {
  const auto n = static_cast<std::size_t>(graph.nodes());
  std::vector<double> residuals(graph.pairs().size());
  std::vector<double> of_one;
  double settled = kSettled;
  for (int round = 0; round < kRounds; ++round) {
    fill_residuals(graph, base, effects, residuals);
    if (round == 1) {
      settled = settled_below(graph, residuals);
    }
    double largest = 0;
    for (std::size_t k = 0; k < effects.size(); ++k) {
      of_one.clear();
      for (const int p : graph.pairs_of(k)) {
        of_one.push_back(residuals[p]);
      }
      const double step = 0.5 * middle_of(of_one);
      effects[k] += step;
      largest = std::max(largest, std::abs(step));
    }
    if (graph.symmetric()) {
      base += 2 * centre(graph.kept(), effects, 0, n);
    } else {
      base += centre(graph.kept(), effects, 0, n) + centre(graph.kept(), effects, n, 2 * n);
    }
    if (largest < settled) {
      return;
    }
  }
}

// Every node as its best link shows it: right where several slow nodes meet, which the median over
// few partners is not, and wrong where one link is too good.
std::vector<double> best_links(const PairGraph& graph, double base) {
  std::vector<double> effects(graph.unknowns());
  for (std::size_t k = 0; k < effects.size(); ++k) {
    const auto own = graph.pairs_of(k);
    double best = std::numeric_limits<double>::infinity();
    for (const int p : own) {
      best = std::min(best, graph.pairs()[p].x - base);
    }
    effects[k] = own.empty() ? 0 : best;
  }
  return effects;
}

// Sum of |x - expected|. Where two slow nodes meet, anything from the slower of the two effects
// (the slower end limits) to their sum (one end waits for the other) is as expected.
double misfit(const PairGraph& graph, double base, const std::vector<double>& effects) {
  double sum = 0;
  for (const PairValue& pair : graph.pairs()) {
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

void polish_from_best_start(const PairGraph& graph, double& base, std::vector<double>& effects) {
  double other_base = base;
  std::vector<double> other = best_links(graph, other_base);
  polish(graph, base, effects);
  if (graph.most_pairs() >= kManyPartners) {
    return;
  }
  polish(graph, other_base, other);
  if (misfit(graph, other_base, other) < kBetter * misfit(graph, base, effects)) {
    base = other_base;
    effects = std::move(other);
  }
}

double overall_median(const std::vector<PairValue>& pairs) {
  std::vector<double> values;
  values.reserve(pairs.size());
  for (const PairValue& pair : pairs) {
    values.push_back(pair.x);
  }
  return middle_of(values);
}

// An effect is that of a slow node from so many times the usual one on, and from 1 % on.
constexpr double kSlowTimes = 5;
constexpr double kSlowAtLeast = 0.01;

// Whether the slower end limits, told by the pairs both of whose ends are slow.
double limit_of(const PairGraph& graph, double base, const std::vector<double>& effects) {
  std::vector<double> sizes;
  for (std::size_t k = 0; k < effects.size(); ++k) {
    if (graph.kept()[k]) {
      sizes.push_back(std::abs(effects[k]));
    }
  }
  const double from = std::max(kSlowAtLeast, kSlowTimes * middle_of(sizes));
  double as_sum = 0;
  double as_slower = 0;
  for (const PairValue& pair : graph.pairs()) {
    const double u = effects[graph.first(pair)];
    const double v = effects[graph.second(pair)];
    if (std::min(u, v) > from) {
      as_sum += std::abs(pair.x - base - u - v);
      as_slower += std::abs(pair.x - base - std::max(u, v));
    }
  }
  return as_slower < as_sum ? from : std::numeric_limits<double>::infinity();
}

}  // namespace

PairFit fit_pairs(int nodes, const std::vector<PairValue>& pairs, bool symmetric) {
  PairGraph graph(nodes, pairs, symmetric);
  PairFit fit;
  fit.base = overall_median(pairs);
  if (!graph.identifiable()) {
    fit.disconnected = true;
    graph.keep_none();
  }
  std::vector<double> effects(graph.unknowns());
  if (const std::size_t kept = graph.count_kept(); kept > 0) {
    polish_from_best_start(graph, fit.base, effects);
    fit.parameters = static_cast<int>(kept) - (symmetric ? 0 : 1);
    fit.limit_from = limit_of(graph, fit.base, effects);
  }
  const auto n = static_cast<std::ptrdiff_t>(nodes);
  const auto half = symmetric ? 0 : n;
  fit.sends.assign(effects.begin(), effects.begin() + n);
  fit.receives.assign(effects.begin() + half, effects.begin() + half + n);
  fit.sends_fitted.assign(graph.kept().begin(), graph.kept().begin() + n);
  fit.receives_fitted.assign(graph.kept().begin() + half, graph.kept().begin() + half + n);
  return fit;
}

}  // namespace fleetbench::detect
