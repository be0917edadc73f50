#include "harness/detect/accused.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace fleetbench::detect {

bool is_made_from(const Table& derived, const Table& pairs) {
  return derived.step == pairs.step && derived.info.name == pairs.info.name &&
         derived.look == pairs.look && derived.part == Part::metric &&
         (derived.role != Role::own || derived.of_groups());
}

Directions directions_of(const Accused& accused, const Table& pairs) {
  Directions directions;
  bool in_metrics = false;
  for (const Hit& hit : *accused.hits) {
    in_metrics = in_metrics || hit.table().part == Part::metric;
    if (is_made_from(hit.table(), pairs)) {
      directions.from = directions.from || hit.table().role != Role::receives;
      directions.to = directions.to || hit.table().role != Role::sends;
    }
  }
  return in_metrics ? directions : Directions{true, true};
}

std::vector<int> rows_of_link(const Table& table, const Accused& accused) {
  std::set<std::pair<int, int>> ends;
  for (const Hit& hit : *accused.hits) {
    if (!is_made_from(hit.table(), table)) {
      continue;
    }
    ends.insert({hit.subject().node, hit.subject().peer});
    if (hit.table().info.symmetric) {
      ends.insert({hit.subject().peer, hit.subject().node});
    }
  }
  std::vector<int> rows;
  for (const auto& [from, to] : ends) {
    const Row wanted{.node = from, .peer = to};
    const auto before = [](const Row& a, const Row& b) {
      return std::pair(a.node, a.peer) < std::pair(b.node, b.peer);
    };
    const auto [first, last] =
        std::equal_range(table.rows.begin(), table.rows.end(), wanted, before);
    for (auto row = first; row != last; ++row) {
      if (row->ends == accused.row().ends) {
        rows.push_back(static_cast<int>(row - table.rows.begin()));
      }
    }
  }
  std::ranges::sort(rows);
  return rows;
}

}  // namespace fleetbench::detect
