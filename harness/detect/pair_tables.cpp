#include "harness/detect/pair_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "harness/detect/name_list.hpp"
#include "harness/detect/rails.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

std::vector<int> nodes_of(const Table& links, std::size_t nodes) {
  std::vector<bool> met(nodes);
  for (const Row& row : links.rows) {
    met[row.node] = met[row.peer] = true;
  }
  std::vector<int> result;
  for (std::size_t node = 0; node < nodes; ++node) {
    if (met[node]) {
      result.push_back(static_cast<int>(node));
    }
  }
  return result;
}

std::string where(const Table& links, const Names& names, const Stratum& stratum) {
  return stratum.rail < 0
             ? links.step_id
             : fmt::format("{} on rail {}", links.step_id, names.devices[stratum.rail]);
}

constexpr std::size_t kMostNamed = 8;

void say_what_cannot_be_told(const Stratum& stratum, const Names& names, PairTables& result) {
  const Table& links = result.links;
  const std::vector<int>& nodes = stratum.nodes;
  const std::string in = where(links, names, stratum);
  std::vector<std::string> few;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!stratum.fit.sends_fitted[i] || !stratum.fit.receives_fitted[i]) {
      few.push_back(names.nodes[nodes[i]]);
    }
  }
  if (nodes.size() == 3) {
    result.notes.push_back(
        fmt::format("{}: with 3 nodes a slow node cannot be told from slow links", in));
  } else if (stratum.fit.disconnected) {
    result.notes.push_back(fmt::format(
        "{}: the pairs that were measured do not join all nodes, so a slow node cannot be told "
        "from slow links",
        in));
  } else if (nodes.size() > 3 && !few.empty()) {
    result.notes.push_back(fmt::format(
        "{}: {} met fewer than {} partners, so a slow node cannot be told from slow links there",
        in, few.size() == nodes.size() ? "all nodes" : list_of(few, kMostNamed), kFewestPartners));
  }
}

void say_what_is_apart(const std::vector<Stratum>& strata, const Names& names, PairTables& result) {
  std::map<int, int> parts;
  for (const Stratum& stratum : strata) {
    parts[stratum.rail] += stratum.fit.fitted_any();
  }
  for (const auto& [rail, count] : parts) {
    if (count > 1) {
      result.notes.push_back(fmt::format(
          "{}{}: the pairs that were measured do not join all nodes: {} groups of nodes are "
          "compared "
          "within themselves, and whether one of them is slow as a whole cannot be told",
          result.links.step_id, rail < 0 ? "" : " on rail " + names.devices[rail], count));
    }
  }
}

void say_how_many_were_measured(const Table& links, std::size_t nodes, PairTables& result) {
  std::set<std::pair<int, int>> pairs;
  for (const Row& row : links.rows) {
    pairs.insert(std::minmax(row.node, row.peer));
  }
  const std::size_t all = nodes * (nodes - 1) / 2;
  if (nodes > 3 && pairs.size() < all) {
    result.notes.push_back(fmt::format(
        "{}: {} of {} pairs of nodes were measured ({:.1f} %): a single slow link among the "
        "others would not show",
        links.step_id, pairs.size(), all,
        100 * static_cast<double>(pairs.size()) / static_cast<double>(all)));
  }
}

bool touches(const Row& row, int node) { return row.node == node || row.peer == node; }

// Among three nodes a slow one touches two of the three pairs, so the median is no reference. The
// best pair is: the level of the links between two nodes, for the best two.
void refer_to_best_pair(Table& links, const std::vector<int>& nodes) {
  double best = std::numeric_limits<double>::infinity();
  for (const int left_out : nodes) {
    std::vector<double> rest;
    for (std::size_t i = 0; i < links.rows.size(); ++i) {
      const double x = level(links.values(i));
      if (!touches(links.rows[i], left_out) && !std::isnan(x)) {
        rest.push_back(x);
      }
    }
    if (!rest.empty()) {
      best = std::min(best, median(std::move(rest)));
    }
  }
  for (Row& row : links.rows) {
    row.reference = best;
  }
  links.fixed_reference = true;
}

void refer_to_ends(const std::vector<Stratum>& strata, const std::vector<double>& offsets,
                   Table& links) {
  for (const Stratum& stratum : strata) {
    links.fitted += stratum.fit.fitted_any() ? stratum.fit.parameters : 0;
    for (const int i : stratum.rows) {
      Row& row = links.rows[i];
      row.reference = stratum.expected(row) + offsets[i];
      row.base = stratum.fit.base + offsets[i];
    }
  }
}

void add_if_any(Table table, std::vector<Table>& tables) {
  if (!table.rows.empty()) {
    tables.push_back(std::move(table));
  }
}

}  // namespace

PairTables derive(Table links, const Names& names, const Switches& switches, double least_effect) {
  PairTables result;
  result.links = std::move(links);
  Table& table = result.links;
  const std::vector<int> nodes = nodes_of(table, names.nodes.size());
  if (nodes.size() < 3) {
    result.classes.offsets.assign(table.rows.size(), 0);
    return result;
  }
  result.classes = classify(table, names, switches, least_effect);
  result.notes = result.classes.notes;
  const std::vector<Stratum> strata = fit_strata(table, names, result.classes.offsets);
  for (const Stratum& stratum : strata) {
    say_what_cannot_be_told(stratum, names, result);
  }
  if (nodes.size() == 3) {
    refer_to_best_pair(table, nodes);
    return result;
  }
  say_what_is_apart(strata, names, result);
  say_how_many_were_measured(table, nodes.size(), result);
  refer_to_ends(strata, result.classes.offsets, table);
  for (const Role role :
       table.info.symmetric ? std::vector{Role::talks} : std::vector{Role::sends, Role::receives}) {
    add_if_any(end_table(table, strata, result.classes.offsets, role, false), result.nodes);
    Table rails = end_table(table, strata, result.classes.offsets, role, true);
    add_if_any(node_table_of_rails(rails), result.nodes);
    add_if_any(std::move(rails), result.nodes);
  }
  return result;
}

}  // namespace fleetbench::detect
