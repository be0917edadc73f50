#include "harness/detect/peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/detect/populations.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

int cohort_of(const Table& table, const Names& names, const Row& row) {
  return table.of_links() || row.node < 0 || names.cohorts.empty() ? 0 : names.cohorts[row.node];
}

std::vector<PeerGroup> groups_of(const Table& table, const Names& names,
                                 const std::vector<double>& levels) {
  std::map<int, PeerGroup> by_cohort;
  for (std::size_t row = 0; row < levels.size(); ++row) {
    if (!std::isnan(levels[row])) {
      PeerGroup& group = by_cohort[cohort_of(table, names, table.rows[row])];
      group.rows.push_back(row);
      group.values.push_back(levels[row] - table.rows[row].reference);
    }
  }
  std::vector<PeerGroup> groups;
  for (auto& [cohort, group] : by_cohort) {
    group.cohort = cohort;
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string names_of(const Table& table, const Names& names, const PeerGroup& group) {
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
                           const PeerGroup& fast, const PeerGroup& slow) {
  return fmt::format(
      "{}: two populations, {} around {:.4g} {} and {} around {:.4g} {} ({}): two kinds of "
      "hardware, or so many slow ones; each is compared with its own",
      table.metric, split.fast, to_value(median(fast.values), table.info.better), table.info.unit,
      split.slow, to_value(median(slow.values), table.info.better), table.info.unit,
      names_of(table, names, slow));
}

// Devices of few nodes are no population of their own: nodes are what is of one kind or another.
bool is_population(const Table& table, const PeerGroup& side) {
  std::set<int> nodes;
  for (const std::size_t row : side.rows) {
    nodes.insert(table.rows[row].node);
  }
  return nodes.size() >= kFewestPeers;
}

// The groups of cohorts, split where one of them is two populations.
PeerGroups split_groups(const Table& table, const Names& names, std::vector<PeerGroup> cohorts) {
  PeerGroups result;
  for (PeerGroup& group : cohorts) {
    const auto split = split_of(group.values);
    if (!split) {
      result.groups.push_back(std::move(group));
      continue;
    }
    PeerGroup fast;
    PeerGroup slow;
    fast.cohort = slow.cohort = group.cohort;
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      PeerGroup& side = group.values[i] > split->border ? slow : fast;
      side.rows.push_back(group.rows[i]);
      side.values.push_back(group.values[i]);
    }
    if (!is_population(table, fast) || !is_population(table, slow)) {
      result.groups.push_back(std::move(group));
      continue;
    }
    result.apart = std::max(result.apart, median(slow.values) - median(fast.values));
    result.populations.push_back(describe_split(table, names, *split, fast, slow));
    result.groups.push_back(std::move(fast));
    result.groups.push_back(std::move(slow));
  }
  return result;
}

}  // namespace

PeerGroups peer_groups(const Table& table, const Names& names, const std::vector<double>& levels) {
  std::vector<PeerGroup> cohorts = groups_of(table, names, levels);
  const bool as_measured =
      table.role == Role::own && table.look == Look::measured && table.part == Part::metric;
  return as_measured ? split_groups(table, names, std::move(cohorts))
                     : PeerGroups{std::move(cohorts), {}, 0};
}

}  // namespace fleetbench::detect
