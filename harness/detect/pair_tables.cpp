#include "harness/detect/pair_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "harness/detect/pairs.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

std::set<int> nodes_of(const Table& links) {
  std::set<int> nodes;
  for (const Row& row : links.rows) {
    nodes.insert({row.node, row.peer});
  }
  return nodes;
}

std::vector<PairValue> levels_of(const Table& links) {
  std::vector<PairValue> values;
  for (std::size_t i = 0; i < links.rows.size(); ++i) {
    if (const double x = level(links.values(i)); !std::isnan(x)) {
      values.push_back({links.rows[i].node, links.rows[i].peer, x});
    }
  }
  return values;
}

bool touches(const Row& row, Role role, int node) {
  return (role != Role::receives && row.node == node) || (role != Role::sends && row.peer == node);
}

// The node's effect in each pass: the fitted one plus the median of what its links show beyond it.
std::vector<double> follow(const Table& links, const PairFit& fit, Role role, int node) {
  const double effect = role == Role::receives ? fit.receives[node] : fit.sends[node];
  std::vector<double> result(links.passes.size(), kAbsent);
  for (std::size_t pass = 0; pass < links.passes.size(); ++pass) {
    std::vector<double> beyond;
    for (std::size_t i = 0; i < links.rows.size(); ++i) {
      const Row& row = links.rows[i];
      const double x = links.values(i)[pass];
      if (!std::isnan(x) && touches(row, role, node)) {
        beyond.push_back(x - fit.expected(row.node, row.peer));
      }
    }
    if (!beyond.empty()) {
      result[pass] = fit.base + effect + median(std::move(beyond));
    }
  }
  return result;
}

Table node_table(const Table& links, const PairFit& fit, Role role) {
  Table table = empty_like(links);
  table.role = role;
  table.metric += role == Role::sends ? " sending" : role == Role::receives ? " receiving" : "";
  const std::vector<bool>& fitted = role == Role::receives ? fit.receives_fitted : fit.sends_fitted;
  for (const int node : nodes_of(links)) {
    if (fitted[node]) {
      table.add_row({.node = node});
      std::ranges::copy(follow(links, fit, role, node),
                        table.values(table.rows.size() - 1).begin());
    }
  }
  return table;
}

std::vector<std::string> unfitted(const Table& links, const PairFit& fit,
                                  const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const int node : nodes_of(links)) {
    if (!fit.sends_fitted[node] || !fit.receives_fitted[node]) {
      result.push_back(names[node]);
    }
  }
  return result;
}

void say_what_cannot_be_told(const PairFit& fit, const std::vector<std::string>& names,
                             PairTables& result) {
  const Table& links = result.links;
  const std::size_t nodes = nodes_of(links).size();
  if (nodes == 3) {
    result.notes.push_back(
        fmt::format("{}: with 3 nodes a slow node cannot be told from slow links", links.step_id));
  } else if (fit.disconnected) {
    result.notes.push_back(fmt::format(
        "{}: the pairs that were measured do not join all nodes, so a slow node cannot be told "
        "from slow links",
        links.step_id));
  } else if (const auto few = unfitted(links, fit, names); nodes > 3 && !few.empty()) {
    const bool all = few.size() == nodes;
    result.notes.push_back(fmt::format(
        "{}: {} met fewer than {} partners, so a slow node cannot be told from slow links there",
        links.step_id, all ? "all nodes" : fmt::format("{}", fmt::join(few, ", ")),
        kFewestPartners));
  }
}

// Among three nodes a slow one touches two of the three pairs, so the median is no reference. The
// best pair is: the level of the links between two nodes, for the best two.
void refer_to_best_pair(Table& links) {
  double best = std::numeric_limits<double>::infinity();
  for (const int left_out : nodes_of(links)) {
    std::vector<double> rest;
    for (std::size_t i = 0; i < links.rows.size(); ++i) {
      const double x = level(links.values(i));
      if (!touches(links.rows[i], Role::talks, left_out) && !std::isnan(x)) {
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

}  // namespace

PairTables derive(Table links, const std::vector<std::string>& names) {
  PairTables result;
  const bool symmetric = links.info.symmetric;
  const PairFit fit = fit_pairs(static_cast<int>(names.size()), levels_of(links), symmetric);
  result.links = std::move(links);
  Table& table = result.links;
  if (nodes_of(table).size() < 3) {
    return result;
  }
  say_what_cannot_be_told(fit, names, result);
  if (nodes_of(table).size() == 3) {
    refer_to_best_pair(table);
    return result;
  }
  table.fitted = fit.fitted_any() ? fit.parameters : 0;
  for (Row& row : table.rows) {
    row.reference = fit.expected(row.node, row.peer);
  }
  if (fit.fitted_any()) {
    for (const Role role :
         symmetric ? std::vector{Role::talks} : std::vector{Role::sends, Role::receives}) {
      result.nodes.push_back(node_table(table, fit, role));
    }
  }
  return result;
}

}  // namespace fleetbench::detect
