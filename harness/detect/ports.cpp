#include "harness/detect/ports.hpp"

#include <algorithm>

namespace fleetbench::detect {
namespace {

// The rail of a row of a group whose `ends` are only some of its members, see SampleRecord; else
// none, -1.
int rail_of_large_group(const Names& names, const Row& row) {
  return row.group >= 0 && names.groups[row.group].size() > names.ends[row.ends].size()
             ? rail_of(names, row)
             : -1;
}

}  // namespace

Ports::Ports(const Table& table, const Names& names) {
  start_.push_back(0);
  for (const Row& row : table.rows) {
    if (const int rail = row.ends >= 0 ? rail_of_large_group(names, row) : -1; rail >= 0) {
      for (const int node : names.groups[row.group]) {
        ports_.push_back({node, rail});
      }
    } else if (row.ends >= 0) {
      ports_.insert(ports_.end(), names.ends[row.ends].begin(), names.ends[row.ends].end());
    } else if (row.group >= 0) {
      for (const int node : names.groups[row.group]) {
        ports_.push_back({node, -1});
      }
    } else {
      ports_.push_back({std::min(row.node, row.peer), -1});
      ports_.push_back({std::max(row.node, row.peer), -1});
    }
    start_.push_back(ports_.size());
  }
}

bool Ports::touches(std::size_t row, const Component& component) const {
  int nodes = 0;
  int last = -1;
  for (const Port& port : of(row)) {
    if (port.node != last && component.has(port)) {
      last = port.node;
      ++nodes;
    }
  }
  return component.leaving ? nodes == 1 : nodes > 0;
}

std::vector<std::vector<int>> touching(const Ports& ports,
                                       const std::vector<Component>& components) {
  std::vector<std::vector<int>> of_node;  // components that have it
  std::vector<int> of_all;
  for (std::size_t c = 0; c < components.size(); ++c) {
    const auto& nodes = components[c].nodes;
    if (nodes.empty()) {
      of_all.push_back(static_cast<int>(c));
      continue;
    }
    of_node.resize(std::max(of_node.size(), nodes.size()));
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      if (nodes[node]) {
        of_node[node].push_back(static_cast<int>(c));
      }
    }
  }
  std::vector<std::vector<int>> rows(components.size());
  std::vector<int> seen;
  for (std::size_t row = 0; row < ports.rows(); ++row) {
    seen = of_all;
    for (const Port& port : ports.of(row)) {
      if (static_cast<std::size_t>(port.node) < of_node.size()) {
        seen.insert(seen.end(), of_node[port.node].begin(), of_node[port.node].end());
      }
    }
    std::ranges::sort(seen);
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const int c : seen) {
      if (ports.touches(row, components[c])) {
        rows[c].push_back(static_cast<int>(row));
      }
    }
  }
  return rows;
}

}  // namespace fleetbench::detect
