#include "harness/detect/judge.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "harness/detect/normal.hpp"
#include "harness/detect/parallel.hpp"
#include "harness/detect/peers.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestToLearn = 5;   // below, the spread is assumed
constexpr std::size_t kFewestToTrust = 16;  // below, the passes are believed more
constexpr std::size_t kFewestToStand = 8;   // below, a cohort borrows from larger ones
// A subject whose passes vary so many times more than those of its peers is less sure to be slow.
constexpr double kNoisier = 2.5;
// Scores below this are nobody's trouble: whether the subject is noisy need not be known.
constexpr double kWorthALook = 2;

// No spread is believed below a tenth of what is of interest, and 0.2 % is always enough.
constexpr double kLargestFloor = 0.002;
constexpr double kFloorShare = 0.1;

struct Group : PeerGroup {
  std::optional<CleanSet> set;
};

// A table at work.
struct Work {
  Judged judged;
  std::vector<double> levels;  // of each row
  std::vector<Group> groups;
  CleanRules rules;
  double pass_variance = 0;  // of a level, from its passes
  double typical_passes = 1;
};

double floor_of(const Table& table, const DetectOptions& options) {
  return std::min(kLargestFloor, kFloorShare * std::log1p(min_effect(options, table.info.layer)));
}

// Where many values are equal, they come in steps: then the distance of neighbours is a step.
double resolution_of(std::vector<double> levels) {
  std::erase_if(levels, [](double level) { return std::isnan(level); });
  std::ranges::sort(levels);
  double smallest = 0;
  std::size_t equal = 0;
  for (std::size_t k = 1; k < levels.size(); ++k) {
    const double gap = levels[k] - levels[k - 1];
    if (gap == 0) {
      ++equal;
    } else if (smallest == 0 || gap < smallest) {
      smallest = gap;
    }
  }
  return 3 * equal >= levels.size() ? smallest : 0;
}

double typical_passes(const Table& table) {
  std::vector<double> counts;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (const std::size_t passes = count(table.values(row)); passes > 0) {
      counts.push_back(static_cast<double>(passes));
    }
  }
  return std::max(1.0, median(std::move(counts)));
}

Work begin(Table table, const Names& names, const DetectOptions& options) {
  Work work;
  const auto within = pass_sigma(table);
  work.judged.within = within.value_or(0);
  work.judged.rows.resize(table.rows.size());
  work.judged.groups.assign(table.rows.size(), -1);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    work.levels.push_back(level(table.values(row)));
  }
  work.typical_passes = typical_passes(table);
  const double sigma = within.value_or(has_passes(table) ? kSinglePassSigma : 0);
  const double passes_variance = median_variance(static_cast<std::size_t>(work.typical_passes));
  work.pass_variance = sigma * sigma * passes_variance;
  const double floor =
      std::max(floor_of(table, options), resolution_of(work.levels) / std::sqrt(12));
  // Of few, the spread can look smaller than the passes alone make it.
  const bool few = table.rows.size() < kFewestToTrust;
  work.rules.least_variance =
      std::max(floor * floor, few ? work.judged.within * work.judged.within * passes_variance : 0);
  work.rules.fitted = table.fitted;
  work.rules.fixed_centre = table.fixed_reference;
  PeerGroups peers = peer_groups(table, names, work.levels);
  for (PeerGroup& group : peers.groups) {
    work.groups.push_back({std::move(group), std::nullopt});
  }
  work.judged.populations = std::move(peers.populations);
  work.judged.apart = peers.apart;
  work.judged.table = std::move(table);
  std::vector<double> present;
  std::ranges::copy_if(work.levels, std::back_inserter(present),
                       [](double value) { return !std::isnan(value); });
  work.judged.between = robust_sigma(present);
  return work;
}

// Tables that are expected to spread alike: the metrics of a layer, or all layers' averages, each
// in units of what it would be were its metrics independent.
using Kind = std::tuple<Role, Look, Part, bool>;
Kind kind_of(const Table& table) {
  return {table.role, table.look, table.part, table.of_devices()};
}
Layer kin_of(const Table& table) {
  return table.part == Part::layer ? Layer::host : table.info.layer;
}

void add_variances(const Work& work, std::vector<SampleVariance>& seen) {
  for (const Group& group : work.groups) {
    if (group.set) {
      const Spread spread = group.set->all();
      const double unit = work.judged.table.expected_sigma;
      seen.push_back({spread.variance / (unit * unit), spread.degrees});
    }
  }
}

using Priors = std::map<std::pair<Kind, Layer>, Prior>;

Priors learn(const std::vector<Work>& work) {
  std::map<Kind, std::map<Layer, std::vector<SampleVariance>>> seen;
  for (const Work& one : work) {
    add_variances(one, seen[kind_of(one.judged.table)][kin_of(one.judged.table)]);
  }
  Priors priors;
  for (const auto& [kind, by_layer] : seen) {
    std::vector<std::vector<SampleVariance>> layers;
    for (const auto& [layer, variances] : by_layer) {
      layers.push_back(variances);
    }
    const std::vector<Prior> learnt = learnt_priors(layers);
    std::size_t i = 0;
    for (const auto& [layer, variances] : by_layer) {
      priors[{kind, layer}] = learnt[i++];
    }
  }
  return priors;
}

// What the larger cohorts of the table say about spread, each about its own centre.
std::optional<Prior> borrowed(const Work& work, const Group& borrower) {
  Prior prior;
  for (const Group& group : work.groups) {
    if (&group != &borrower && group.set && group.rows.size() >= kFewestToStand) {
      const Spread spread = group.set->all();
      prior.variance += spread.degrees * spread.variance;
      prior.degrees += spread.degrees;
    }
  }
  if (prior.degrees == 0) {
    return std::nullopt;
  }
  prior.variance /= prior.degrees;
  return prior;
}

Prior prior_of(const Work& work, const Group& group, const Prior& learnt) {
  const auto& expected = work.judged.table.expected;
  if (const auto known = expected.find(group.cohort); known != expected.end()) {
    return known->second;
  }
  if (group.rows.size() < kFewestToStand) {
    if (const auto prior = borrowed(work, group)) {
      return *prior;
    }
  }
  const bool nothing_learnt = learnt.degrees == 0 && group.rows.size() < kFewestToStand;
  if (group.rows.size() < kFewestToLearn || work.rules.fixed_centre || nothing_learnt) {
    return assumed_prior(work.judged.table, work.pass_variance);
  }
  return learnt;
}

// Passes that are missing, or that vary more than those of the peers, make a level less sure.
double extra_variance(const Work& work, std::size_t row) {
  const Judged& judged = work.judged;
  const auto values = judged.table.values(row);
  const double per_pass = median_variance(count(values));
  const double typical = median_variance(static_cast<std::size_t>(work.typical_passes));
  const double within = judged.within * judged.within;
  double extra = within * std::max(0.0, per_pass - typical);
  const double own = pass_sigma(values).value_or(0);
  if (own > kNoisier * judged.within) {
    extra += (own * own - within) * per_pass;
  }
  return extra;
}

void judge_row(Work& work, const Group& group, std::size_t i, double middle) {
  const std::size_t row = group.rows[i];
  const Spread spread = group.set->without(i);
  const double reference = work.judged.table.rows[row].reference;
  Judgement& judgement = work.judged.rows[row];
  judgement.judged = true;
  judgement.clean = group.set->contains(i);
  judgement.level = work.levels[row];
  judgement.peers = reference + spread.centre;
  judgement.slowdown = judgement.level - judgement.peers;
  judgement.against_all = work.rules.fixed_centre
                              ? judgement.slowdown
                              : judgement.level - work.judged.table.rows[row].base - middle;
  judgement.scale = std::sqrt(spread.variance * (1 + spread.centre_variance));
  judgement.degrees = spread.degrees;
  judgement.unsure = judgement.scale;
  if (std::abs(judgement.slowdown) > kWorthALook * judgement.scale) {
    judgement.unsure = std::sqrt(judgement.scale * judgement.scale + extra_variance(work, row));
  }
  judgement.z = normal_score(judgement.slowdown / judgement.unsure, judgement.degrees);
}

// Whether the scores of most groups are smaller than the values alone would make them.
bool is_floored(const Work& work) {
  std::size_t floored = 0;
  std::size_t groups = 0;
  for (const Group& group : work.groups) {
    if (group.set) {
      ++groups;
      floored += group.set->all().variance <= work.rules.least_variance;
    }
  }
  return 2 * floored > groups;
}

void judge_groups(Work& work, const Prior& learnt) {
  std::vector<Prior> priors;
  for (const Group& group : work.groups) {
    priors.push_back(prior_of(work, group, learnt));
  }
  int number = 0;
  for (Group& group : work.groups) {
    for (const std::size_t row : group.rows) {
      work.judged.groups[row] = number;
    }
    if (group.rows.size() >= kFewestPeers || work.rules.fixed_centre) {
      group.set.emplace(group.values, work.rules, priors[number]);
      std::vector<double> levels;
      for (const std::size_t row : group.rows) {
        levels.push_back(work.levels[row] - work.judged.table.rows[row].base);
      }
      const double middle = median(std::move(levels));
      for (std::size_t i = 0; i < group.rows.size(); ++i) {
        judge_row(work, group, i, middle);
      }
    }
    ++number;
  }
  work.judged.floored = is_floored(work);
}

}  // namespace

std::vector<Judged> judge_all(std::vector<Table> tables, const Names& names,
                              const DetectOptions& options) {
  std::vector<Work> work(tables.size());
  for_each_index(tables.size(), [&](std::size_t i) {
    work[i] = begin(std::move(tables[i]), names, options);
    if (work[i].judged.table.of_groups()) {
      work[i].groups.clear();  // a group names nobody
    }
    for (Group& group : work[i].groups) {
      if (group.rows.size() >= kFewestToLearn) {
        group.set.emplace(group.values, work[i].rules, Prior{});
      }
    }
  });
  const Priors priors = learn(work);
  std::vector<Judged> result(work.size());
  for_each_index(work.size(), [&](std::size_t i) {
    const Table& table = work[i].judged.table;
    Prior prior = priors.at({kind_of(table), kin_of(table)});
    prior.variance *= table.expected_sigma * table.expected_sigma;
    judge_groups(work[i], prior);
    result[i] = std::move(work[i].judged);
    work[i] = {};
  });
  return result;
}

}  // namespace fleetbench::detect
