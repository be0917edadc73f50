#include "harness/detect/switches.hpp"

#include <algorithm>
#include <map>

namespace fleetbench::detect {
namespace {

// Switches by name, and which of them are above which.
struct Above {
  std::map<std::string, std::size_t> number;
  std::vector<std::vector<std::size_t>> parents;
};

Above above_of(const Topology& topology) {
  Above above;
  for (std::size_t i = 0; i < topology.switches.size(); ++i) {
    above.number[topology.switches[i].name] = i;
  }
  above.parents.resize(topology.switches.size());
  for (std::size_t i = 0; i < topology.switches.size(); ++i) {
    for (const std::string& child : topology.switches[i].switches) {
      if (const auto found = above.number.find(child); found != above.number.end()) {
        above.parents[found->second].push_back(i);
      }
    }
  }
  return above;
}

// Every switch over a leaf, itself included, with how many steps up it is.
std::map<std::size_t, int> ancestors(const Above& above, std::size_t leaf) {
  std::map<std::size_t, int> steps{{leaf, 0}};
  std::vector<std::size_t> reached{leaf};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const std::size_t parent : above.parents[reached[i]]) {
      if (steps.try_emplace(parent, steps.at(reached[i]) + 1).second) {
        reached.push_back(parent);
      }
    }
  }
  return steps;
}

int common(const std::map<std::size_t, int>& a, const std::map<std::size_t, int>& b) {
  int least = -1;
  for (const auto& [one, steps] : a) {
    if (const auto found = b.find(one); found != b.end()) {
      const int up = std::max(steps, found->second);
      least = least < 0 ? up : std::min(least, up);
    }
  }
  return least;
}

}  // namespace

Switches::Switches(const Topology& topology, const std::vector<std::string>& names)
    : leaf_(names.size(), -1) {
  std::map<std::string, int> number;
  for (std::size_t i = 0; i < names.size(); ++i) {
    number[names[i]] = static_cast<int>(i);
  }
  const Above above = above_of(topology);
  std::vector<std::map<std::size_t, int>> over;
  std::map<std::size_t, std::vector<bool>> below;
  for (std::size_t i = 0; i < topology.switches.size(); ++i) {
    const int leaf = static_cast<int>(leaf_names_.size());
    bool used = false;
    for (const std::string& node : topology.switches[i].nodes) {
      if (const auto found = number.find(node); found != number.end()) {
        leaf_[found->second] = leaf;
        used = true;
      }
    }
    if (!used) {
      continue;
    }
    leaf_names_.push_back(topology.switches[i].name);
    over.push_back(ancestors(above, i));
    for (const auto& [one, steps] : over.back()) {
      auto& nodes = below.try_emplace(one, names.size()).first->second;
      for (std::size_t node = 0; node < names.size(); ++node) {
        nodes[node] = nodes[node] || leaf_[node] == leaf;
      }
    }
  }
  for (auto& [one, nodes] : below) {
    below_.push_back({topology.switches[one].name, std::move(nodes)});
  }
  distances_.resize(over.size());
  for (std::size_t a = 0; a < over.size(); ++a) {
    for (std::size_t b = 0; b < over.size(); ++b) {
      distances_[a].push_back(common(over[a], over[b]));
    }
  }
}

std::vector<Component> Switches::components() const {
  std::vector<Component> result;
  for (const Below& below : below_) {
    const auto count = std::ranges::count(below.nodes, true);
    if (count < std::ssize(below.nodes)) {
      Component component;
      component.subject.kind = "switch";
      component.subject.switch_name = below.name;
      component.nodes = below.nodes;
      result.push_back(std::move(component));
    }
  }
  return result;
}

int Switches::distance(int a, int b) const {
  return leaf_[a] < 0 || leaf_[b] < 0 ? -1 : distances_[leaf_[a]][leaf_[b]];
}

}  // namespace fleetbench::detect
