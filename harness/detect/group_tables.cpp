#include "harness/detect/group_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestGroups = 3;

// Without those of the whole fleet, which all have.
std::vector<std::vector<int>> rows_by_node(const Table& groups, const Names& names) {
  std::vector<std::vector<int>> rows(names.nodes.size());
  for (std::size_t row = 0; row < groups.rows.size(); ++row) {
    const std::vector<int>& members = names.groups[groups.rows[row].group];
    if (members.size() == names.nodes.size() || std::isnan(level(groups.values(row)))) {
      continue;
    }
    for (const int node : members) {
      rows[node].push_back(static_cast<int>(row));
    }
  }
  return rows;
}

// Whether the node is the only one that all of its groups have. Rows of one group, as of its rails,
// follow each other.
bool stands_alone(const Table& groups, const Names& names, const std::vector<int>& rows) {
  int last = groups.rows[rows.front()].group;
  std::vector<int> shared = names.groups[last];
  for (const int row : rows) {
    const int group = groups.rows[row].group;
    if (group == last) {
      continue;
    }
    last = group;
    std::erase_if(shared,
                  [&](int node) { return !std::ranges::binary_search(names.groups[group], node); });
  }
  return shared.size() == 1;
}

void follow(const Table& groups, const std::vector<int>& rows, std::span<double> values) {
  std::vector<double> levels;
  for (const int row : rows) {
    levels.push_back(level(groups.values(static_cast<std::size_t>(row))));
  }
  const double best = std::ranges::min(levels);
  for (std::size_t pass = 0; pass < values.size(); ++pass) {
    std::vector<double> beyond;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double x = groups.values(static_cast<std::size_t>(rows[i]))[pass];
      if (!std::isnan(x)) {
        beyond.push_back(x - levels[i]);
      }
    }
    if (!beyond.empty()) {
      values[pass] = best + median(std::move(beyond));
    }
  }
}

}  // namespace

GroupTables tables_of_groups(const Table& groups, const Names& names) {
  GroupTables result;
  Table table = empty_like(groups);
  table.role = Role::talks;
  table.info.subject = SubjectKind::node;
  std::size_t unclear = 0;
  const auto rows = rows_by_node(groups, names);
  for (std::size_t node = 0; node < rows.size(); ++node) {
    if (rows[node].size() < kFewestGroups || !stands_alone(groups, names, rows[node])) {
      unclear += !rows[node].empty();
      continue;
    }
    table.add_row({.node = static_cast<int>(node)});
    follow(groups, rows[node], table.values(table.rows.size() - 1));
  }
  if (!table.rows.empty() && unclear > 0) {
    result.notes.push_back(
        fmt::format("{}: {} nodes met too few groups to tell them from the members of these",
                    groups.step_id, unclear));
  }
  if (table.rows.size() > 2) {
    result.nodes.push_back(std::move(table));
  }
  return result;
}

}  // namespace fleetbench::detect
