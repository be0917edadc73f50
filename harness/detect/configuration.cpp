#include "harness/detect/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/detect/cohorts.hpp"
#include "harness/detect/facts.hpp"
#include "harness/detect/gpu_settings.hpp"
#include "harness/detect/gpus_on_pci.hpp"
#include "harness/detect/hardware.hpp"
#include "harness/detect/majority.hpp"

namespace fleetbench::detect {
namespace {

constexpr std::string_view kProbes = "probes";

// Nodes whose facts, of one part of the inventory, are the same.
struct Holders {
  const Facts* facts = nullptr;
  std::vector<int> nodes;

  std::string_view value(const std::string& path) const {
    const auto found = facts->find(path);
    return found == facts->end() ? kNone : std::string_view(found->second);
  }
};

// The element of an array that a path lies in: "nics[eth0]" of "nics[eth0].mtu"; else empty.
std::string element_of(const std::string& path) {
  const std::size_t end = path.find(']');
  return end == std::string::npos ? std::string() : path.substr(0, end + 1);
}

// Of the nodes of a cohort, what the others have in one part of the inventory.
class Comparison {
 public:
  // `told_only`: a node that lacks a fact did not say, rather than having none.
  Comparison(std::vector<Holders> holders, bool told_only)
      : holders_(std::move(holders)), told_only_(told_only) {
    std::map<std::string, Counts> counts;
    std::size_t all = 0;
    for (const Holders& some : holders_) {
      all += some.nodes.size();
      for (const auto& [path, value] : *some.facts) {
        counts[path][value] += some.nodes.size();
      }
    }
    for (auto& [path, of_path] : counts) {
      std::size_t told = 0;
      for (const auto& [value, nodes] : of_path) {
        told += nodes;
      }
      if (!told_only_ && told < all) {
        of_path[kNone] += all - told;
      }
      majorities_.emplace(path, majority_of(path, of_path));
    }
  }

  void list(std::vector<Difference>& result) const {
    for (const auto& [path, most] : majorities_) {
      if (tells(most)) {
        list_path(path, most, result);
      }
    }
  }

 private:
  void list_path(const std::string& path, const Majority& most,
                 std::vector<Difference>& result) const {
    const std::size_t first = result.size();
    std::map<std::string_view, std::size_t> alike;
    std::vector<std::string_view> values;
    for (const Holders& some : holders_) {
      const std::string_view value = some.value(path);
      if ((told_only_ && !some.facts->contains(path)) || same(path, value, most.value) ||
          follows_from_element(path, *some.facts)) {
        continue;
      }
      const std::string text = sentence(path, value, most);
      alike[value] += some.nodes.size();
      for (const int node : some.nodes) {
        result.push_back({.node = node, .path = path, .text = text, .alike = 0, .device = ""});
        values.push_back(value);
      }
    }
    for (std::size_t i = first; i < result.size(); ++i) {
      result[i].alike = alike[values[i - first]];
    }
  }

  // An element that most lack is nothing to report, nor what it contains; of one that is missing,
  // only that it is.
  bool follows_from_element(const std::string& path, const Facts& own) const {
    const std::string element = element_of(path);
    if (element.empty()) {
      return false;
    }
    const auto most = majorities_.find(element);
    return most == majorities_.end() || most->second.value == kNone ||
           (path != element && !own.contains(element));
  }

  static std::string sentence(const std::string& path, std::string_view value,
                              const Majority& most) {
    if (value == kNone && element_of(path) == path) {
      return fmt::format("{} is missing, {} of {} nodes have it", path, most.count, most.of);
    }
    return fmt::format("{} is {}, {} of {} nodes have {}", path, shown(value), most.count, most.of,
                       shown(most.value));
  }

  std::vector<Holders> holders_;
  bool told_only_;
  std::map<std::string, Majority> majorities_;  // by path
};

using Members = std::map<std::string, std::vector<int>>;  // by cohort

Members members_of(const std::vector<NodeInfo>& nodes) {
  const std::vector<std::string> keys = cohorts_of(nodes);
  Members members;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].inventory.is_null()) {
      members[keys[i]].push_back(static_cast<int>(i));
    }
  }
  return members;
}

// What a step's probe told is a part of its own.
std::map<std::string, std::map<int, const Json*>> parts_of(const std::vector<NodeInfo>& nodes,
                                                           const std::vector<int>& members) {
  std::map<std::string, std::map<int, const Json*>> parts;
  for (const int node : members) {
    for (const auto& [name, part] : nodes[node].inventory.parts()) {
      if (name != kProbes || !part->is_object()) {
        parts[name].emplace(node, part.get());
        continue;
      }
      for (const auto& [step, facts] : part->get_ref<const Json::object_t&>()) {
        parts[fmt::format("{}.{}", kProbes, step)].emplace(node, &facts);
      }
    }
  }
  return parts;
}

void compare_nodes(const std::vector<NodeInfo>& nodes, const std::vector<int>& members,
                   FactPool& pool, std::vector<Difference>& result) {
  static const Facts nothing;
  if (members.size() < kFewestNodes) {
    return;
  }
  for (const auto& [name, of_node] : parts_of(nodes, members)) {
    std::map<const Facts*, Holders> by_facts;
    for (const int node : members) {
      const auto part = of_node.find(node);
      const Facts& facts = part == of_node.end() ? nothing : pool.facts_of(name, *part->second);
      by_facts[&facts].nodes.push_back(node);
    }
    if (by_facts.size() == 1) {
      continue;
    }
    std::vector<Holders> holders;
    for (auto& [facts, some] : by_facts) {
      holders.push_back({facts, std::move(some.nodes)});
    }
    Comparison(std::move(holders), name.starts_with(kProbes)).list(result);
  }
}

std::string setting_of(const Difference& difference) {
  return difference.path.substr(difference.path.find(']') + 1);
}

// What GPUs differ in among all of the cohort is not told again of the node.
void compare_cohort(const std::vector<NodeInfo>& nodes, const std::vector<int>& members,
                    FactPool& pool, std::vector<Difference>& result) {
  std::vector<Difference> of_gpus;
  compare_gpus(nodes, members, pool, of_gpus);
  std::set<std::pair<int, std::string>> told;
  for (const Difference& difference : of_gpus) {
    told.emplace(difference.node, setting_of(difference));
  }
  std::vector<Difference> of_nodes;
  compare_nodes(nodes, members, pool, of_nodes);
  std::erase_if(of_nodes, [&](const Difference& difference) {
    return difference.path.starts_with(kGpuPaths) &&
           (told.contains({difference.node, setting_of(difference)}) ||
            hides_gpus(nodes[static_cast<std::size_t>(difference.node)]));
  });
  result.insert(result.end(), of_gpus.begin(), of_gpus.end());
  result.insert(result.end(), of_nodes.begin(), of_nodes.end());
}

// That of those whose parts are all there: the cohort is called by it.
Hardware usual_hardware(const std::vector<NodeInfo>& nodes, const std::string& key,
                        const std::vector<int>& members) {
  HardwareReader reader;
  for (const int node : members) {
    Hardware hardware = reader.hardware_of(nodes[node].inventory);
    if (text_of(hardware) == key) {
      return hardware;
    }
  }
  return reader.hardware_of(nodes[members.front()].inventory);
}

// Where all the others are of one kind, the node that is not.
void list_loners(const std::vector<NodeInfo>& nodes, const Members& members,
                 std::vector<Difference>& result) {
  std::size_t all = 0;
  for (const auto& [key, some] : members) {
    all += some.size();
  }
  const auto most =
      std::ranges::max_element(members, {}, [](const auto& some) { return some.second.size(); });
  if (most == members.end() || !tells({kNone, most->second.size(), all})) {
    return;
  }
  const Hardware usual = usual_hardware(nodes, most->first, most->second);
  for (const auto& [key, some] : members) {
    if (some.size() > 1 || !nodes[some.front()].cohort.empty()) {
      continue;
    }
    const Hardware own = HardwareReader().hardware_of(nodes[some.front()].inventory);
    for (std::size_t i = 0; i < kHardware.size(); ++i) {
      if (own.models[i] != usual.models[i]) {
        result.push_back(
            {.node = some.front(),
             .path = kHardware[i],
             .text = fmt::format("the only node of its kind: {} is {}, {} of {} nodes have {}",
                                 kHardware[i], text_of(own.models[i]), most->second.size(), all,
                                 text_of(usual.models[i])),
             .device = ""});
      }
    }
  }
}

}  // namespace

std::vector<NodeInfo> with_probe_facts(const RunData& run) {
  std::map<int, std::map<std::string, Json>> told;  // by node, by step
  for (const SampleRecord& sample : run.samples) {
    if (sample.status != Status::ok || !sample.detail.is_object() ||
        run.steps.at(sample.step).sampled) {
      continue;
    }
    const auto facts = sample.detail.find("facts");
    if (facts != sample.detail.end() && facts->is_object()) {
      Json& known = told[sample.node][run.steps.at(sample.step).id];
      if (known != *facts) {
        known = known.is_null() ? Json::object() : std::move(known);
        known.update(*facts);
      }
    }
  }
  std::vector<NodeInfo> nodes = run.header.nodes;
  for (auto& [node, by_step] : told) {
    if (nodes.at(node).inventory.is_object()) {
      Json& probes = nodes[node].inventory[std::string(kProbes)];
      for (auto& [step, facts] : by_step) {
        probes[step] = std::move(facts);
      }
    }
  }
  return nodes;
}

std::vector<Difference> differences(const std::vector<NodeInfo>& nodes) {
  const Members members = members_of(nodes);
  std::vector<Difference> result;
  FactPool pool;
  for (const auto& [key, some] : members) {
    compare_cohort(nodes, some, pool, result);
  }
  list_loners(nodes, members, result);
  std::ranges::stable_sort(result, [](const Difference& a, const Difference& b) {
    return std::tie(a.node, a.path) < std::tie(b.node, b.path);
  });
  return result;
}

}  // namespace fleetbench::detect
