#include "harness/record/topology_nodes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace fleetbench::record {
namespace {

std::string_view short_name(std::string_view node) { return node.substr(0, node.find('.')); }

// Names of the file → names of nodes.
std::map<std::string, std::string> names_of(const Topology& topology,
                                            const std::vector<std::string>& nodes) {
  const std::set<std::string> exact(nodes.begin(), nodes.end());
  std::map<std::string_view, std::vector<std::string>> nodes_by_short_name;
  for (const std::string& node : nodes) {
    nodes_by_short_name[short_name(node)].push_back(node);
  }
  std::map<std::string_view, int> count_of_file;
  for (const Switch& one : topology.switches) {
    for (const std::string& node : one.nodes) {
      ++count_of_file[short_name(node)];
    }
  }
  std::map<std::string, std::string> names;
  for (const Switch& one : topology.switches) {
    for (const std::string& node : one.nodes) {
      const auto alike = nodes_by_short_name.find(short_name(node));
      if (exact.contains(node)) {
        names[node] = node;
      } else if (alike != nodes_by_short_name.end() && alike->second.size() == 1 &&
                 count_of_file[short_name(node)] == 1) {
        names[node] = alike->second.front();
      }
    }
  }
  return names;
}

// Switches with a node below them, directly or not.
std::set<std::string> used_switches(const Topology& topology,
                                    const std::map<std::string, std::string>& names) {
  std::map<std::string, std::vector<std::string>> above;
  std::vector<std::string> next;
  for (const Switch& one : topology.switches) {
    for (const std::string& child : one.switches) {
      above[child].push_back(one.name);
    }
    if (std::ranges::any_of(one.nodes,
                            [&names](const std::string& node) { return names.contains(node); })) {
      next.push_back(one.name);
    }
  }
  std::set<std::string> used(next.begin(), next.end());
  for (std::size_t i = 0; i < next.size(); ++i) {
    for (const std::string& parent : above[next[i]]) {
      if (used.insert(parent).second) {
        next.push_back(parent);
      }
    }
  }
  return used;
}

}  // namespace

MatchedTopology match_topology(const Topology& topology, const std::vector<std::string>& nodes) {
  const auto names = names_of(topology, nodes);
  const auto used = used_switches(topology, names);
  MatchedTopology matched;
  std::set<std::string> found;
  for (const Switch& one : topology.switches) {
    Switch kept{one.name, {}, {}};
    for (const std::string& node : one.nodes) {
      const auto name = names.find(node);
      if (name == names.end()) {
        ++matched.others;
      } else if (found.insert(name->second).second) {
        kept.nodes.push_back(name->second);
      }
    }
    std::ranges::copy_if(one.switches, std::back_inserter(kept.switches),
                         [&used](const std::string& child) { return used.contains(child); });
    if (used.contains(one.name)) {
      matched.topology.switches.push_back(std::move(kept));
    }
  }
  std::ranges::copy_if(nodes, std::back_inserter(matched.missing),
                       [&found](const std::string& node) { return !found.contains(node); });
  return matched;
}

}  // namespace fleetbench::record
