#include "harness/detect/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "harness/detect/normal.hpp"
#include "harness/detect/parallel.hpp"
#include "harness/detect/populations.hpp"
#include "harness/detect/robust.hpp"
#include "harness/detect/student.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestSubjects = 3;
constexpr std::size_t kFewestToLearn = 5;   // below, the spread is assumed
constexpr std::size_t kFewestToTrust = 16;  // below, the passes are believed more
constexpr std::size_t kFewestToStand = 8;   // below, a cohort borrows from larger ones
// A subject whose passes vary so many times more than those of its peers is less sure to be slow.
constexpr double kNoisier = 2.5;
// Scores below this are nobody's trouble: whether the subject is noisy need not be known.
constexpr double kWorthALook = 2;
constexpr double kQuantile = 0.05;  // on each side of an interval

// No spread is believed below a tenth of what is of interest, and 0.2 % is always enough.
constexpr double kLargestFloor = 0.002;
constexpr double kFloorShare = 0.1;

struct Group {
  int cohort = 0;
  std::vector<std::size_t> rows;
  std::optional<CleanSet> set;
  std::vector<double> values;  // of the rows: level - reference
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

int cohort_of(const Table& table, const Names& names, const Row& row) {
  return table.of_links() || row.node < 0 || names.cohorts.empty() ? 0 : names.cohorts[row.node];
}

std::vector<Group> groups_of(const Table& table, const Names& names,
                             const std::vector<double>& levels) {
  std::map<int, Group> by_cohort;
  for (std::size_t row = 0; row < levels.size(); ++row) {
    if (!std::isnan(levels[row])) {
      Group& group = by_cohort[cohort_of(table, names, table.rows[row])];
      group.rows.push_back(row);
      group.values.push_back(levels[row] - table.rows[row].reference);
    }
  }
  std::vector<Group> groups;
  for (auto& [cohort, group] : by_cohort) {
    group.cohort = cohort;
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string names_of(const Table& table, const Names& names, const Group& group) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> texts;
  for (const std::size_t row : group.rows) {
    if (texts.size() < kMost) {
      texts.push_back(describe(subject_of(names, table, table.rows[row])));
    }
  }
  const std::size_t more = group.rows.size() - texts.size();
  return fmt::format("{}{}", fmt::join(texts, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string describe_split(const Table& table, const Names& names, const Split& split,
                           const Group& fast, const Group& slow) {
  return fmt::format(
      "{}: two populations, {} around {:.4g} {} and {} around {:.4g} {} ({}): two kinds of "
      "hardware, or so many slow ones; each is compared with its own",
      table.metric, split.fast, to_value(median(fast.values), table.info.better), table.info.unit,
      split.slow, to_value(median(slow.values), table.info.better), table.info.unit,
      names_of(table, names, slow));
}

// Devices of few nodes are no population of their own: nodes are what is of one kind or another.
bool is_population(const Table& table, const Group& side) {
  std::set<int> nodes;
  for (const std::size_t row : side.rows) {
    nodes.insert(table.rows[row].node);
  }
  return nodes.size() >= kFewestSubjects;
}

void split_groups(Work& work, const Names& names) {
  std::vector<Group> result;
  for (Group& group : work.groups) {
    const auto split = split_of(group.values);
    if (!split) {
      result.push_back(std::move(group));
      continue;
    }
    Group fast;
    Group slow;
    fast.cohort = slow.cohort = group.cohort;
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      Group& side = group.values[i] > split->border ? slow : fast;
      side.rows.push_back(group.rows[i]);
      side.values.push_back(group.values[i]);
    }
    const Table& table = work.judged.table;
    if (!is_population(table, fast) || !is_population(table, slow)) {
      result.push_back(std::move(group));
      continue;
    }
    const double apart = median(slow.values) - median(fast.values);
    work.judged.apart = std::max(work.judged.apart, apart);
    work.judged.populations.push_back(describe_split(table, names, *split, fast, slow));
    result.push_back(std::move(fast));
    result.push_back(std::move(slow));
  }
  work.groups = std::move(result);
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
  work.groups = groups_of(table, names, work.levels);
  work.judged.table = std::move(table);
  const Table& own = work.judged.table;
  if (own.role == Role::own && own.look == Look::measured && own.part == Part::metric) {
    split_groups(work, names);
  }
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
  judgement.against_all = work.rules.fixed_centre ? judgement.slowdown : judgement.level - middle;
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
    if (group.rows.size() >= kFewestSubjects || work.rules.fixed_centre) {
      group.set.emplace(group.values, work.rules, priors[number]);
      std::vector<double> levels;
      for (const std::size_t row : group.rows) {
        levels.push_back(work.levels[row]);
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

// Sorted, without the worst quarter, at least one.
double level_without_worst(std::span<const double> values) {
  std::vector<double> kept;
  std::ranges::copy_if(values, std::back_inserter(kept),
                       [](double value) { return !std::isnan(value); });
  std::ranges::sort(kept);
  kept.resize(kept.size() - std::min(kept.size(), std::max<std::size_t>(1, kept.size() / 4)));
  return level(kept);
}

// The slowdown against peers whose worst passes are left out as well.
double slowdown_without_worst(const Judged& judged, std::size_t row) {
  const Table& table = judged.table;
  const double own = level_without_worst(table.values(row)) - table.rows[row].reference;
  std::vector<double> others;
  for (std::size_t other = 0; other < table.rows.size(); ++other) {
    if (other != row && judged.groups[other] == judged.groups[row]) {
      const double value = level_without_worst(table.values(other)) - table.rows[other].reference;
      if (!std::isnan(value)) {
        others.push_back(value);
      }
    }
  }
  if (std::isnan(own) || (others.empty() && !table.fixed_reference)) {
    return 0;
  }
  return table.fixed_reference ? own : own - median(std::move(others));
}

// By time; a median of each half.
bool slow_in_both_halves(std::span<const double> values, double bound) {
  std::vector<double> present;
  std::ranges::copy_if(values, std::back_inserter(present),
                       [](double value) { return !std::isnan(value); });
  const std::span<const double> all(present);
  const std::size_t half = present.size() / 2;
  return half > 0 && level(all.first(half)) >= bound && level(all.subspan(half)) >= bound;
}

}  // namespace

bool has_passes(const Table& table) { return table.look != Look::jitter; }

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

Closer look_closer(const Judged& judged, std::size_t row) {
  const Judgement& judgement = judged.rows[row];
  const auto values = judged.table.values(row);
  const double half_slow = judgement.peers + judgement.slowdown / 2;
  Closer closer;
  closer.passes = count(values);
  closer.slow_passes = static_cast<std::size_t>(
      std::ranges::count_if(values, [&](double value) { return value >= half_slow; }));
  closer.both_halves = slow_in_both_halves(values, half_slow);
  // That passes vary is seen over many of them already.
  closer.lasting =
      !has_passes(judged.table) ||
      (closer.passes > 1 && slowdown_without_worst(judged, row) >= judgement.slowdown / 2);
  const double half = student_quantile(kQuantile, judgement.degrees) * judgement.unsure;
  closer.low = judgement.slowdown - half;
  closer.high = judgement.slowdown + half;
  return closer;
}

}  // namespace fleetbench::detect
