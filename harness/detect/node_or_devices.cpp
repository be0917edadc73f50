#include "harness/detect/node_or_devices.hpp"

#include <algorithm>

namespace fleetbench::detect {
namespace {

// Of a node's devices; fewer that are slow are slow by themselves.
constexpr double kMostDevices = 0.75;

bool from_devices(const std::vector<Hit>& hits) {
  return std::ranges::all_of(hits, [](const Hit& hit) { return hit.table().of_its_devices; });
}

// The share of a node's devices that are slow by at least half as much as the node.
double share_of_slow_devices(const Evaluated& evaluated, const Hit& node) {
  const double half_slow = node.judgement().peers + node.judgement().slowdown / 2;
  std::size_t devices = 0;
  std::size_t slow = 0;
  for (const Judged& judged : evaluated.tables) {
    if (!judged.table.of_devices() || judged.table.part != node.table().part ||
        judged.table.look != node.table().look || judged.table.metric != node.table().metric) {
      continue;
    }
    for (std::size_t row = 0; row < judged.rows.size(); ++row) {
      if (judged.table.rows[row].node == node.subject().node && judged.rows[row].judged) {
        ++devices;
        slow += is_derived_from_pairs(judged.table)
                    ? judged.rows[row].slowdown >= node.judgement().slowdown / 2
                    : judged.rows[row].level >= half_slow;
      }
    }
  }
  return devices == 0 ? 1 : static_cast<double>(slow) / static_cast<double>(devices);
}

}  // namespace

void attribute_to_devices(const Evaluated& evaluated, Hits& hits) {
  std::map<std::pair<Layer, int>, double> blamed;  // layer and node → upper end of its slowdown
  for (auto entry = hits.begin(); entry != hits.end();) {
    const auto& [layer, node, peer, device] = entry->first;
    const bool of_node = peer < 0 && device < 0;
    if (of_node && from_devices(entry->second)) {
      if (share_of_slow_devices(evaluated, leading(entry->second)) < kMostDevices) {
        entry = hits.erase(entry);
        continue;
      }
      blamed[{layer, node}] = leading(entry->second).closer.high;
    }
    ++entry;
  }
  std::erase_if(hits, [&](const auto& entry) {
    const auto& [layer, node, peer, device] = entry.first;
    const auto found = blamed.find({layer, node});
    return device >= 0 && peer < 0 && found != blamed.end() &&
           leading(entry.second).closer.low <= found->second;
  });
}

}  // namespace fleetbench::detect
