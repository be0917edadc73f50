#include "harness/detect/rails.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>

#include "harness/detect/joined.hpp"
#include "harness/detect/robust.hpp"

namespace fleetbench::detect {
namespace {

// Rows of a stratum by one of their nodes, which have their numbers in the stratum.
class RowsOfNodes {
 public:
  RowsOfNodes(const Table& links, const Stratum& stratum, Role role) {
    const std::size_t nodes = stratum.fit.sends.size();
    start_.assign(nodes + 1, 0);
    const auto each = [&](auto add) {
      for (const int row : stratum.rows) {
        if (role != Role::receives) {
          add(stratum.place_of(links.rows[row].node), row);
        }
        if (role != Role::sends) {
          add(stratum.place_of(links.rows[row].peer), row);
        }
      }
    };
    each([&](int node, int) { ++start_[node + 1]; });
    for (std::size_t node = 0; node < nodes; ++node) {
      start_[node + 1] += start_[node];
    }
    rows_.resize(start_.back());
    std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
    each([&](int node, int row) { rows_[next[node]++] = row; });
  }

  std::span<const int> of(std::size_t node) const {
    return {rows_.data() + start_[node], rows_.data() + start_[node + 1]};
  }

 private:
  std::vector<std::size_t> start_;
  std::vector<int> rows_;
};

void follow(const Table& links, const std::vector<double>& offsets, const Stratum& stratum,
            std::span<const int> rows, double effect, std::span<double> values) {
  std::vector<double> beyond;
  for (std::size_t pass = 0; pass < links.passes.size(); ++pass) {
    beyond.clear();
    for (const int i : rows) {
      const Row& row = links.rows[i];
      const double x = links.values(static_cast<std::size_t>(i))[pass];
      if (!std::isnan(x)) {
        beyond.push_back(x - offsets[i] - stratum.expected(row));
      }
    }
    if (!beyond.empty()) {
      values[pass] = stratum.fit.base + effect + median(beyond);
    }
  }
}

void add_ends(const Table& links, const std::vector<double>& offsets, const Stratum& stratum,
              Role role, bool relative, Table& table) {
  const PairFit& fit = stratum.fit;
  const std::vector<bool>& fitted = role == Role::receives ? fit.receives_fitted : fit.sends_fitted;
  const std::vector<double>& effects = role == Role::receives ? fit.receives : fit.sends;
  const RowsOfNodes rows(links, stratum, role);
  for (std::size_t node = 0; node < fitted.size(); ++node) {
    if (fitted[node]) {
      Row row{.node = stratum.nodes[node], .device = stratum.rail};
      row.reference = relative ? fit.base : 0;
      table.add_row(row);
      follow(links, offsets, stratum, rows.of(node), effects[node],
             table.values(table.rows.size() - 1));
    }
  }
}

std::map<int, Stratum> rows_by_rail(const Table& links, const Names& names) {
  std::map<int, Stratum> by_rail;
  constexpr int kNotLookedUp = -2;
  std::vector<int> rails(names.ends.size(), kNotLookedUp);
  for (std::size_t i = 0; i < links.rows.size(); ++i) {
    const Row& row = links.rows[i];
    int rail = -1;
    if (row.ends >= 0) {
      int& known = rails[row.ends];
      known = known == kNotLookedUp ? rail_of(names, row) : known;
      rail = known;
    }
    Stratum& stratum = by_rail[rail];
    stratum.rail = rail;
    stratum.rows.push_back(static_cast<int>(i));
  }
  return by_rail;
}

// By the groups of nodes that no pair joins: nothing compares them.
std::vector<Stratum> joined_parts(const Table& links, const Stratum& stratum, std::size_t nodes) {
  Joined joined(nodes);
  for (const int i : stratum.rows) {
    joined.join(links.rows[i].node, links.rows[i].peer);
  }
  std::map<int, Stratum> by_root;
  for (const int i : stratum.rows) {
    Stratum& part = by_root[joined.root_of(links.rows[i].node)];
    part.rail = stratum.rail;
    part.rows.push_back(i);
  }
  std::vector<Stratum> parts;
  for (auto& [root, part] : by_root) {
    parts.push_back(std::move(part));
  }
  return parts;
}

// Of parts that share no node.
void number_nodes(const Table& links, std::size_t nodes, std::span<Stratum> parts) {
  const auto places = std::make_shared<std::vector<int>>(nodes, -1);
  for (Stratum& part : parts) {
    for (const int i : part.rows) {
      for (const int node : {links.rows[i].node, links.rows[i].peer}) {
        if ((*places)[node] < 0) {
          (*places)[node] = 0;
          part.nodes.push_back(node);
        }
      }
    }
    std::ranges::sort(part.nodes);
    for (std::size_t place = 0; place < part.nodes.size(); ++place) {
      (*places)[part.nodes[place]] = static_cast<int>(place);
    }
    part.places = places;
  }
}

// Each pair once; where it was measured by several devices, their mean. Rows are sorted by pair.
std::vector<PairValue> values_of(const Table& links, const std::vector<double>& offsets,
                                 const Stratum& stratum) {
  std::vector<PairValue> pairs;
  int same = 0;
  for (const int i : stratum.rows) {
    const Row& row = links.rows[i];
    const double x = level(links.values(static_cast<std::size_t>(i))) - offsets[i];
    if (std::isnan(x)) {
      continue;
    }
    const PairValue pair{stratum.place_of(row.node), stratum.place_of(row.peer), x};
    if (!pairs.empty() && pairs.back().from == pair.from && pairs.back().to == pair.to) {
      ++same;
      pairs.back().x += (x - pairs.back().x) / (same + 1);
    } else {
      pairs.push_back(pair);
      same = 0;
    }
  }
  return pairs;
}

void fit(const Table& links, const std::vector<double>& offsets, Stratum& stratum) {
  stratum.fit = fit_pairs(static_cast<int>(stratum.nodes.size()),
                          values_of(links, offsets, stratum), links.info.symmetric);
}

// Among fewer nodes nobody has enough partners.
constexpr std::size_t kFewestNodes = kFewestPartners + 1;

}  // namespace

std::vector<Stratum> fit_strata(const Table& links, const Names& names,
                                const std::vector<double>& offsets) {
  const std::size_t nodes = names.nodes.size();
  std::vector<Stratum> strata;
  Stratum rest;
  for (auto& [rail, of_rail] : rows_by_rail(links, names)) {
    std::vector<Stratum> parts = joined_parts(links, of_rail, nodes);
    number_nodes(links, nodes, parts);
    for (Stratum& part : parts) {
      if (part.nodes.size() >= kFewestNodes) {
        fit(links, offsets, part);
      }
      if (part.fit.fitted_any() || part.fit.disconnected) {
        strata.push_back(std::move(part));
      } else {
        rest.rows.insert(rest.rows.end(), part.rows.begin(), part.rows.end());
      }
    }
  }
  if (!rest.rows.empty()) {
    std::ranges::sort(rest.rows);
    number_nodes(links, nodes, {&rest, 1});
    fit(links, offsets, rest);
    strata.insert(strata.begin(), std::move(rest));
  }
  return strata;
}

Table end_table(const Table& links, const std::vector<Stratum>& strata,
                const std::vector<double>& offsets, Role role, bool of_rails) {
  Table table = empty_like(links);
  table.role = role;
  table.metric += role == Role::sends ? " sending" : role == Role::receives ? " receiving" : "";
  const bool several = std::ranges::count_if(strata, [](const Stratum& stratum) {
                         return stratum.rail < 0 && stratum.fit.fitted_any();
                       }) > 1;
  for (const Stratum& stratum : strata) {
    if ((stratum.rail >= 0) == of_rails && stratum.fit.fitted_any()) {
      add_ends(links, offsets, stratum, role, of_rails || several, table);
    }
  }
  return table;
}

Table node_table_of_rails(const Table& rails) {
  std::map<int, std::vector<std::size_t>> by_node;
  for (std::size_t row = 0; row < rails.rows.size(); ++row) {
    by_node[rails.rows[row].node].push_back(row);
  }
  Table table = empty_like(rails);
  table.of_its_devices = true;
  const bool several =
      std::ranges::any_of(by_node, [](const auto& entry) { return entry.second.size() > 1; });
  if (!several) {
    return table;
  }
  std::vector<double> references;
  for (const Row& row : rails.rows) {
    references.push_back(row.reference);
  }
  const double base = median(std::move(references));
  std::vector<double> values;
  for (const auto& [node, rows] : by_node) {
    table.add_row({.node = node});
    for (std::size_t pass = 0; pass < table.passes.size(); ++pass) {
      values.clear();
      for (const std::size_t row : rows) {
        if (const double x = rails.values(row)[pass]; !std::isnan(x)) {
          values.push_back(x - rails.rows[row].reference + base);
        }
      }
      if (!values.empty()) {
        table.values(table.rows.size() - 1)[pass] = median(values);
      }
    }
  }
  return table;
}

}  // namespace fleetbench::detect
