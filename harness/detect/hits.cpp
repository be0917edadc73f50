#include "harness/detect/hits.hpp"

#include <algorithm>
#include <set>

namespace fleetbench::detect {
namespace {

// Sigmas: of many metrics one always lies two above their average.
constexpr double kBeyondDoubt = 4;

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
  if (row.component >= 0) {
    return Key(layer, -1, -1, row.component);
  }
  return row.peer < 0
             ? Key(layer, row.node, -1, row.device)
             : Key(layer, std::min(row.node, row.peer), std::max(row.node, row.peer), row.ends);
}

const Hit& leading(const std::vector<Hit>& hits) {
  const Hit* base = &hits.front();
  const auto before = [](const Hit& hit) {
    return std::tuple(hit.table().look != Look::measured, hit.table().part != Part::layer,
                      hit.judgement().scale);
  };
  for (const Hit& hit : hits) {
    base = before(hit) < before(*base) ? &hit : base;
  }
  const Hit* worst = base;
  for (const Hit& hit : hits) {
    const double surely = hit.judgement().slowdown - kBeyondDoubt * hit.judgement().unsure;
    if (surely > base->closer.high && hit.closer.low > worst->closer.low) {
      worst = &hit;
    }
  }
  return *worst;
}

Hits collect_hits(const std::vector<Judged>& tables, const Chosen& chosen) {
  Hits hits;
  for (const Judged& judged : tables) {
    std::map<int, std::size_t> peers;  // by group
    for (std::size_t row = 0; row < judged.rows.size(); ++row) {
      if (judged.rows[row].judged && chosen(judged.table, judged.rows[row])) {
        const int group = judged.groups[row];
        const auto [count, is_new] = peers.try_emplace(group, 0);
        count->second = is_new ? count_peers(judged, group) : count->second;
        hits[key_of(judged.table.info.layer, judged.table.rows[row])].push_back(
            {&judged, row, look_closer(judged, row), count->second});
      }
    }
  }
  return hits;
}

}  // namespace fleetbench::detect
