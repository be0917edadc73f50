#include "harness/detect/covariates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestSubjects = 20;
constexpr double kWorthIt = 1 - 1.0 / 6;
constexpr int kRounds = 10;

using Who = std::pair<int, int>;  // node, device

// A covariate, laid beside the rows of a table; scaled to be fitted.
struct Candidate {
  const Table* table = nullptr;
  bool logarithmic = false;
  std::vector<std::optional<std::size_t>> rows;  // of `table`, for each row of the metric's
  std::vector<double> levels;                    // scaled; kAbsent where there is none
  double typical = 0;                            // median of levels
  double slope = 0;

  double scaled(double value) const { return logarithmic ? std::log(value) : value; }
  double effect(std::size_t row) const {
    return std::isnan(levels[row]) ? 0 : slope * (levels[row] - typical);
  }
};

std::vector<double> present(const std::vector<double>& values) {
  std::vector<double> result;
  std::ranges::copy_if(values, std::back_inserter(result),
                       [](double value) { return !std::isnan(value); });
  return result;
}

Candidate candidate_of(const Table& metric, const Table& covariate) {
  Candidate candidate;
  candidate.table = &covariate;
  candidate.logarithmic =
      std::ranges::all_of(covariate.x, [](double value) { return std::isnan(value) || value > 0; });
  std::map<Who, std::size_t> places;
  for (std::size_t row = 0; row < covariate.rows.size(); ++row) {
    places[{covariate.rows[row].node, covariate.rows[row].device}] = row;
  }
  for (const Row& row : metric.rows) {
    auto found = places.find({row.node, row.device});
    if (found == places.end()) {
      found = places.find({row.node, -1});  // a node's temperature is that of its devices, too
    }
    const bool is_there = found != places.end();
    candidate.rows.push_back(is_there ? std::optional(found->second) : std::nullopt);
    candidate.levels.push_back(is_there ? candidate.scaled(level(covariate.values(found->second)))
                                        : kAbsent);
  }
  candidate.typical = median(present(candidate.levels));
  return candidate;
}

// The median of the slopes of pairs that lie half of the subjects apart.
double slope_of(const std::vector<double>& c, const std::vector<double>& x) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (!std::isnan(c[i]) && !std::isnan(x[i])) {
      order.push_back(i);
    }
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(c[i], x[i]); });
  std::vector<double> slopes;
  const std::size_t half = order.size() / 2;
  for (std::size_t k = 0; k + half < order.size(); ++k) {
    const double run = c[order[k + half]] - c[order[k]];
    if (run > 0) {
      slopes.push_back((x[order[k + half]] - x[order[k]]) / run);
    }
  }
  return median(std::move(slopes));
}

double spread_of(const std::vector<double>& values) { return robust_sigma(present(values)); }

std::vector<double> without(const std::vector<double>& levels,
                            const std::vector<Candidate>& chosen) {
  std::vector<double> left = levels;
  for (const Candidate& candidate : chosen) {
    for (std::size_t row = 0; row < left.size(); ++row) {
      left[row] -= candidate.effect(row);
    }
  }
  return left;
}

// Slopes of several covariates, each on what the others leave.
void refit(const std::vector<double>& levels, std::vector<Candidate>& chosen) {
  for (int round = 0; round < kRounds; ++round) {
    for (Candidate& candidate : chosen) {
      const double old = candidate.slope;
      candidate.slope = 0;
      const double fitted = slope_of(candidate.levels, without(levels, chosen));
      candidate.slope = chosen.size() > 1 ? 0.5 * (old + fitted) : fitted;
    }
  }
}

std::vector<Candidate> choose(const std::vector<double>& levels,
                              std::vector<Candidate> candidates) {
  std::vector<Candidate> chosen;
  double spread = spread_of(levels);
  while (!candidates.empty()) {
    std::vector<std::vector<Candidate>> trials;
    std::vector<double> spreads;
    for (const Candidate& candidate : candidates) {
      trials.push_back(chosen);
      trials.back().push_back(candidate);
      refit(levels, trials.back());
      spreads.push_back(spread_of(without(levels, trials.back())));
    }
    const auto best = static_cast<std::size_t>(std::ranges::min_element(spreads) - spreads.begin());
    if (spreads[best] > kWorthIt * spread) {
      break;
    }
    chosen = std::move(trials[best]);
    spread = spreads[best];
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return chosen;
}

// What a covariate adds in one pass: by its value there where it has one, else by its level.
double effect_in_pass(const Candidate& candidate, std::size_t row, int pass) {
  if (!candidate.rows[row]) {
    return 0;
  }
  const Table& table = *candidate.table;
  const auto place = std::ranges::lower_bound(table.passes, pass);
  if (place != table.passes.end() && *place == pass) {
    const double value =
        table.values(*candidate.rows[row])[static_cast<std::size_t>(place - table.passes.begin())];
    if (!std::isnan(value)) {
      return candidate.slope * (candidate.scaled(value) - candidate.typical);
    }
  }
  return candidate.effect(row);
}

Explanation explain(const Candidate& candidate) {
  Explanation explanation;
  explanation.covariate = candidate.table->info.name;
  explanation.unit = candidate.table->info.unit;
  explanation.typical = candidate.logarithmic ? std::exp(candidate.typical) : candidate.typical;
  for (std::size_t row = 0; row < candidate.levels.size(); ++row) {
    const double scaled = candidate.levels[row];
    explanation.values.push_back(candidate.logarithmic ? std::exp(scaled) : scaled);
    explanation.effects.push_back(candidate.effect(row));
  }
  return explanation;
}

std::optional<Fitted> fit(const Table& table, const std::vector<Table>& covariates) {
  std::vector<double> levels;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    levels.push_back(level(table.values(row)));
  }
  std::vector<Candidate> candidates;
  for (const Table& covariate : covariates) {
    if (covariate.step == table.step) {
      Candidate candidate = candidate_of(table, covariate);
      if (present(candidate.levels).size() >= kFewestSubjects) {
        candidates.push_back(std::move(candidate));
      }
    }
  }
  const std::vector<Candidate> chosen = choose(levels, std::move(candidates));
  if (chosen.empty()) {
    return std::nullopt;
  }
  Fitted fitted{table, {}};
  fitted.beyond.look = Look::beyond;
  fitted.beyond.expected.clear();  // of the values with what covariates explain
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t pass = 0; pass < table.passes.size(); ++pass) {
      for (const Candidate& candidate : chosen) {
        fitted.beyond.values(row)[pass] -= effect_in_pass(candidate, row, table.passes[pass]);
      }
    }
  }
  for (const Candidate& candidate : chosen) {
    fitted.explanations.push_back(explain(candidate));
  }
  return fitted;
}

}  // namespace

std::vector<Fitted> fit_covariates(const std::vector<Table>& tables,
                                   const std::vector<Table>& covariates) {
  std::vector<Fitted> result;
  for (const Table& table : tables) {
    if (table.role == Role::own && table.look == Look::measured && !table.of_groups() &&
        table.rows.size() >= kFewestSubjects && !covariates.empty()) {
      if (auto fitted = fit(table, covariates)) {
        result.push_back(std::move(*fitted));
      }
    }
  }
  return result;
}

}  // namespace fleetbench::detect
