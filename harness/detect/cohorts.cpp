#include "harness/detect/cohorts.hpp"

#include <algorithm>
#include <map>

#include "harness/detect/hardware.hpp"

namespace fleetbench::detect {
namespace {

// The smaller of two populations counts as one from here on.
constexpr std::size_t kFewest = 3;
constexpr double kShare = 0.1;

using Groups = std::map<Hardware, std::vector<std::size_t>>;

Groups groups_of(const std::vector<NodeInfo>& nodes) {
  Groups groups;
  HardwareReader reader;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].cohort.empty() && !nodes[i].inventory.is_null()) {
      groups[reader.hardware_of(nodes[i].inventory)].push_back(i);
    }
  }
  std::erase_if(groups, [](const auto& group) { return group.first.empty(); });
  return groups;
}

bool includes_one_the_other(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::includes(a, b) || std::ranges::includes(b, a);
}

bool may_be_the_same(const Hardware& a, const Hardware& b) {
  for (std::size_t i = 0; i < kHardware.size(); ++i) {
    if (!includes_one_the_other(a.models[i], b.models[i])) {
      return false;
    }
  }
  return true;
}

// At most ten, the largest first.
std::vector<Groups::const_iterator> large_groups(const Groups& groups) {
  std::size_t nodes = 0;
  for (const auto& [hardware, members] : groups) {
    nodes += members.size();
  }
  std::vector<Groups::const_iterator> large;
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    const std::size_t size = group->second.size();
    if (size >= kFewest && static_cast<double>(size) >= kShare * static_cast<double>(nodes)) {
      large.push_back(group);
    }
  }
  std::ranges::stable_sort(
      large, [](const auto& a, const auto& b) { return a->second.size() > b->second.size(); });
  return large;
}

const Hardware& kind_of(Groups::const_iterator group,
                        const std::vector<Groups::const_iterator>& large) {
  if (std::ranges::find(large, group) != large.end()) {
    return group->first;
  }
  const auto found = std::ranges::find_if(
      large, [&](const auto& other) { return may_be_the_same(group->first, other->first); });
  return found == large.end() ? group->first : (*found)->first;
}

std::string largest_of(const std::map<std::string, std::size_t>& sizes) {
  const auto largest =
      std::ranges::max_element(sizes, {}, [](const auto& size) { return size.second; });
  return largest == sizes.end() ? std::string() : largest->first;
}

}  // namespace

std::vector<std::string> cohorts_of(const std::vector<NodeInfo>& nodes) {
  std::vector<std::string> keys;
  for (const NodeInfo& node : nodes) {
    keys.push_back(node.cohort);
  }
  const Groups groups = groups_of(nodes);
  const auto large = large_groups(groups);
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    const std::string key = text_of(kind_of(group, large));
    for (const std::size_t node : group->second) {
      keys[node] = key;
    }
  }
  std::map<std::string, std::size_t> sizes;
  for (const std::string& key : keys) {
    sizes[key] += key.empty() ? 0 : 1;
  }
  sizes.erase("");
  std::ranges::replace(keys, std::string(), largest_of(sizes));
  return keys;
}

}  // namespace fleetbench::detect
