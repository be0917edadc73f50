#include "harness/detect/hits.hpp"

#include <algorithm>
#include <set>

namespace fleetbench::detect {
namespace {

// Nodes, where the table is of links: many links of few nodes are few peers.
std::size_t count_peers(const Judged& judged, int group) {
  if (!judged.table.of_links()) {
    return static_cast<std::size_t>(std::ranges::count(judged.groups, group));
  }
  std::set<int> nodes;
  for (const Row& row : judged.table.rows) {
    nodes.insert({row.node, row.peer});
  }
  return nodes.size();
}

}  // namespace

Key key_of(Layer layer, const Row& row) {
  return row.peer < 0 ? Key(layer, row.node, -1, row.device)
                      : Key(layer, std::min(row.node, row.peer), std::max(row.node, row.peer), -1);
}

Hits collect_hits(const std::vector<Judged>& tables, const Chosen& chosen) {
  Hits hits;
  for (const Judged& judged : tables) {
    for (std::size_t row = 0; row < judged.rows.size(); ++row) {
      if (judged.rows[row].judged && chosen(judged.table, judged.rows[row])) {
        hits[key_of(judged.table.info.layer, judged.table.rows[row])].push_back(
            {&judged, row, look_closer(judged, row), count_peers(judged, judged.groups[row])});
      }
    }
  }
  return hits;
}

}  // namespace fleetbench::detect
