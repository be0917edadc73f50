#include "harness/detect/component_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "harness/detect/ports.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestPairs = 3;
constexpr std::size_t kFewestRows = 2;
constexpr std::size_t kFewestToCompare = 5;  // rows that tell how much they differ
// Standard deviation between healthy switches, or rails, that is expected of few.
constexpr double kAssumedSigma = 0.01;
constexpr double kAssumedDegrees = 20;
// Where a component has fewer of the pairs, the median of all stands for that of the others.
constexpr double kSmallShare = 0.05;

void add_both(Component component, std::vector<Component>& components) {
  components.push_back(component);
  component.leaving = true;
  components.push_back(std::move(component));
}

// Devices by which pairs were measured, as long as some pair did not have them all.
std::set<int> rails_of(const Names& names) {
  std::set<int> rails;
  for (const auto& ends : names.ends) {
    for (const Port& port : ends) {
      rails.insert(port.device);
    }
  }
  return rails;
}

Component rail_component(const Names& names, int rail) {
  Component component;
  component.subject.kind = "rail";
  component.subject.rail = names.devices[rail];
  component.device = rail;
  return component;
}

std::vector<std::vector<bool>> members_of_blocks(const std::vector<PairTables>& pairs) {
  std::set<std::vector<bool>> members;
  for (const PairTables& table : pairs) {
    const std::vector<int>& block = table.classes.block;
    for (int b = 0; !block.empty() && b <= std::ranges::max(block); ++b) {
      std::vector<bool> nodes;
      for (const int of_node : block) {
        nodes.push_back(of_node == b);
      }
      members.insert(std::move(nodes));
    }
  }
  return {members.begin(), members.end()};
}

using Kind = std::tuple<bool, bool, bool>;  // a rail, of some nodes, leaving

Kind kind_of(const Component& component) {
  return {component.device >= 0, !component.nodes.empty(), component.leaving};
}

// What rows of pairs are beyond what is usual for their class, in each pass.
class Excess {
 public:
  // `of_rails`: each rail's own level is not taken out.
  Excess(const PairTables& pairs, bool of_rails) : links_(pairs.links) {
    std::vector<double> bases;
    for (std::size_t row = 0; row < links_.rows.size(); ++row) {
      bases.push_back(links_.rows[row].base - pairs.classes.offsets[row]);
    }
    const double usual = median(bases);
    for (std::size_t row = 0; row < links_.rows.size(); ++row) {
      subtract_.push_back(of_rails ? pairs.classes.offsets[row] : links_.rows[row].base - usual);
      levels_.push_back(level(links_.values(row)) - subtract_.back());
    }
    present_ = levels_;
    std::erase_if(present_, [](double x) { return std::isnan(x); });
    middle_ = median(present_);
  }

  // How much rows differ from those like them: those in a component from each other, and the
  // others.
  double sigma_apart(const std::vector<int>& rows) const {
    std::vector<bool> in(levels_.size());
    for (const int row : rows) {
      in[row] = true;
    }
    std::vector<double> of[2];
    for (std::size_t row = 0; row < levels_.size(); ++row) {
      if (!std::isnan(levels_[row])) {
        of[in[row] ? 1 : 0].push_back(levels_[row]);
      }
    }
    return std::max(robust_sigma(of[0]), robust_sigma(of[1]));
  }

  double in_pass(const std::vector<int>& rows, std::size_t pass) const {
    std::vector<double> values;
    for (const int row : rows) {
      const double x = links_.values(static_cast<std::size_t>(row))[pass];
      if (!std::isnan(x)) {
        values.push_back(x - subtract_[row]);
      }
    }
    return values.empty() ? kAbsent : median(std::move(values));
  }

  // Of all rows but these, which are sorted; none where too few are left.
  std::optional<double> of_others(const std::vector<int>& rows) const {
    if (static_cast<double>(rows.size()) < kSmallShare * static_cast<double>(levels_.size())) {
      return middle_;
    }
    std::vector<double> others;
    std::size_t next = 0;
    for (std::size_t row = 0; row < levels_.size(); ++row) {
      if (next < rows.size() && rows[next] == static_cast<int>(row)) {
        ++next;
      } else if (!std::isnan(levels_[row])) {
        others.push_back(levels_[row]);
      }
    }
    return others.size() < kFewestPairs ? std::nullopt : std::optional(median(std::move(others)));
  }

 private:
  const Table& links_;
  std::vector<double> subtract_;
  std::vector<double> levels_;
  std::vector<double> present_;
  double middle_ = 0;
};

std::size_t nodes_in(const Ports& ports, const std::vector<int>& rows, const Component& component) {
  std::set<int> nodes;
  for (const int row : rows) {
    for (const Port& port : ports.of(static_cast<std::size_t>(row))) {
      if (component.has(port)) {
        nodes.insert(port.node);
      }
    }
  }
  return nodes.size();
}

// How much nodes differ from those like them, as far as pairs told.
double sigma_of_nodes(const PairTables& pairs, const Component& component) {
  double largest = 0;
  for (const Table& table : pairs.nodes) {
    std::vector<double> of[2];
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const Row& subject = table.rows[row];
      if (const double x = level(table.values(row)); !std::isnan(x)) {
        of[component.has({subject.node, subject.device}) ? 1 : 0].push_back(x - subject.reference);
      }
    }
    largest = std::max({largest, robust_sigma(of[0]), robust_sigma(of[1])});
  }
  return largest;
}

// Of a table of few rows: what they differ by if they are healthy. The component that parts pairs
// and nodes best tells it: whatever is slow lies on one side then.
void expect_spread(const PairTables& pairs, const Names& names, const Excess& excess,
                   const std::vector<std::vector<int>>& rows, const Ports& ports, Table& table) {
  double of_pairs = std::numeric_limits<double>::infinity();
  double of_nodes = std::numeric_limits<double>::infinity();
  std::size_t fewest_pairs = pairs.links.rows.size();
  std::size_t fewest_nodes = names.nodes.size();
  for (const Row& row : table.rows) {
    const auto& touching = rows[row.component];
    const Component& component = names.components[row.component];
    of_pairs = std::min(of_pairs, excess.sigma_apart(touching));
    of_nodes = std::min(of_nodes, sigma_of_nodes(pairs, component));
    fewest_pairs = std::min(fewest_pairs, touching.size());
    fewest_nodes = std::min(fewest_nodes, nodes_in(ports, touching, component));
  }
  const double variance =
      of_pairs * of_pairs * kMedianVariance / static_cast<double>(fewest_pairs) +
      of_nodes * of_nodes / static_cast<double>(std::max<std::size_t>(1, fewest_nodes)) +
      kAssumedSigma * kAssumedSigma;
  table.fixed_reference = true;
  table.expected[0] = {variance, kAssumedDegrees};
}

Table table_of_kind(const PairTables& pairs, const Names& names, const Ports& ports,
                    const std::vector<std::vector<int>>& rows, const Kind& kind) {
  Table table = empty_like(pairs.links);
  table.role = Role::shared;
  const auto& [of_rails, of_some, leaving] = kind;
  const Excess excess(pairs, of_rails && !of_some);
  for (std::size_t c = 0; c < names.components.size(); ++c) {
    const auto reference = kind_of(names.components[c]) == kind && rows[c].size() >= kFewestPairs
                               ? excess.of_others(rows[c])
                               : std::nullopt;
    if (!reference) {
      continue;
    }
    Row row{.component = static_cast<int>(c)};
    row.reference = *reference;
    table.add_row(row);
    for (std::size_t pass = 0; pass < table.passes.size(); ++pass) {
      table.values(table.rows.size() - 1)[pass] = excess.in_pass(rows[c], pass);
    }
  }
  if (!table.rows.empty() && table.rows.size() < kFewestToCompare) {
    expect_spread(pairs, names, excess, rows, ports, table);
  }
  return table;
}

// Where no pair lies within one of them, leaving it is the same as touching it.
bool says_nothing_new(const std::vector<std::vector<int>>& rows, std::size_t c) {
  return rows[c].size() == rows[c - 1].size();
}

}  // namespace

std::vector<Component> components_of(const std::vector<PairTables>& pairs, const Names& names,
                                     const Switches& switches) {
  std::vector<Component> components;
  for (Component& component : switches.components()) {
    add_both(std::move(component), components);
  }
  const std::set<int> rails = rails_of(names);
  if (rails.size() < 2) {
    return components;
  }
  const auto members = members_of_blocks(pairs);
  for (const int rail : rails) {
    components.push_back(rail_component(names, rail));
    for (const std::vector<bool>& nodes : members) {
      Component component = rail_component(names, rail);
      component.nodes = nodes;
      for (std::size_t node = 0; node < nodes.size(); ++node) {
        if (nodes[node]) {
          component.subject.nodes.push_back(names.nodes[node]);
        }
      }
      add_both(std::move(component), components);
    }
  }
  return components;
}

std::vector<Table> component_tables(const PairTables& pairs, const Names& names) {
  std::vector<Table> tables;
  if (names.components.empty() || pairs.links.rows.empty() || pairs.links.fixed_reference) {
    return tables;
  }
  const Ports ports(pairs.links, names);
  auto rows = touching(ports, names.components);
  std::set<Kind> kinds;
  for (std::size_t c = 0; c < names.components.size(); ++c) {
    kinds.insert(kind_of(names.components[c]));
    if (names.components[c].leaving && says_nothing_new(rows, c)) {
      rows[c].clear();
    }
  }
  for (const Kind& kind : kinds) {
    Table table = table_of_kind(pairs, names, ports, rows, kind);
    if (table.rows.size() >= kFewestRows) {
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

}  // namespace fleetbench::detect
