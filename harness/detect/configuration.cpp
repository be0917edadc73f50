#include "harness/detect/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace fleetbench::detect {
namespace {

constexpr std::size_t kFewestNodes = 3;
constexpr double kMajority = 0.6;
// Sizes of memory differ by what firmware keeps for itself.
constexpr double kSameBytes = 0.01;
constexpr std::size_t kLongestValue = 80;
constexpr std::string_view kOfProbes = "probes.";

// Parts of the last key of a path that tell of something which differs by nature.
constexpr std::array<std::string_view, 15> kOwn = {
    "hostname",  "address", "serial", "uuid", "guid",        "boot_id", "machine_id",        "free",
    "available", "used",    "uptime", "load", "temperature", "time",    "current_link_speed"};
constexpr std::array<std::string_view, 5> kOwnExactly = {"name", "ip", "id", "mac", "bios_date"};
constexpr std::array<std::string_view, 6> kNaming = {"name",   "address", "mount_point",
                                                     "device", "node",    "page_bytes"};

using Facts = std::map<std::string, Json>;  // path → scalar

bool differs_by_nature(const std::string& key) {
  return std::any_of(kOwn.begin(), kOwn.end(),
                     [&](auto part) { return key.find(part) != std::string::npos; }) ||
         std::find(kOwnExactly.begin(), kOwnExactly.end(), key) != kOwnExactly.end();
}

std::string text_of(const Json& value) {
  if (value.is_null()) {
    return "none";
  }
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.size() > kLongestValue) {
    text = text.substr(0, kLongestValue) + "...";
  }
  return text;
}

// What names the element within its array; a device with several ports is named by both.
std::string element_name(const Json& element, std::size_t index) {
  if (element.is_object()) {
    for (const std::string_view key : kNaming) {
      const auto found = element.find(std::string(key));
      if (found != element.end() && found->is_primitive() && !found->is_null()) {
        const auto port = element.find("port");
        return port == element.end() || port->is_null()
                   ? text_of(*found)
                   : fmt::format("{}:{}", text_of(*found), text_of(*port));
      }
    }
  }
  return std::to_string(index);
}

void flatten(const Json& value, const std::string& path, const std::string& key, Facts& facts) {
  if (value.is_object()) {
    for (const auto& [name, child] : value.items()) {
      flatten(child, path.empty() ? name : path + "." + name, name, facts);
    }
  } else if (value.is_array()) {
    const bool plain = std::none_of(value.begin(), value.end(),
                                    [](const Json& child) { return child.is_structured(); });
    if (plain && !differs_by_nature(key)) {
      facts[path] = value.empty() ? Json() : value;  // flags, governors: a list is one value
      return;
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string name = element_name(value[i], i);
      // That the element is there counts too, as a fact of its own.
      facts[fmt::format("{}[{}]", path, name)] = "present";
      flatten(value[i], fmt::format("{}[{}]", path, name), key, facts);
    }
  } else if (!differs_by_nature(key)) {
    facts[path] = value;
  }
}

bool same(const std::string& path, const Json& a, const Json& b) {
  if (a.is_number() && b.is_number() && path.ends_with("bytes")) {
    const double x = a.get<double>();
    const double y = b.get<double>();
    return std::abs(x - y) <= kSameBytes * std::max(std::abs(x), std::abs(y));
  }
  return a == b;
}

Json fact_of(const Facts& facts, const std::string& path) {
  const auto found = facts.find(path);
  return found == facts.end() ? Json() : found->second;
}

struct Majority {
  Json value;
  std::size_t count = 0;
};

Majority majority(const std::vector<Facts>& all, const std::string& path) {
  Majority best;
  for (const Facts& candidate : all) {
    const Json value = fact_of(candidate, path);
    const auto count =
        static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const Facts& facts) {
          return same(path, fact_of(facts, path), value);
        }));
    if (count > best.count) {
      best = {value, count};
    }
    if (2 * count > all.size()) {
      return best;
    }
  }
  return best;
}

// The element of an array that a path lies in: "nics[eth0]" of "nics[eth0].mtu"; else empty.
std::string element_of(const std::string& path) {
  const std::size_t end = path.find(']');
  return end == std::string::npos ? std::string() : path.substr(0, end + 1);
}

std::string sentence(const std::string& path, const Json& value, const Majority& most,
                     std::size_t nodes) {
  if (value.is_null() && element_of(path) == path) {
    return fmt::format("{} is missing, {} of {} nodes have it", path, most.count, nodes);
  }
  return fmt::format("{} is {}, {} of {} nodes have {}", path, text_of(value), most.count, nodes,
                     text_of(most.value));
}

// An element that most lack is nothing to report, nor what it contains; of one that is missing,
// only that it is.
bool follows_from_element(const std::string& path, const Facts& own,
                          const std::vector<Facts>& all) {
  const std::string element = element_of(path);
  if (element.empty()) {
    return false;
  }
  if (majority(all, element).value.is_null()) {
    return true;
  }
  return path != element && !own.contains(element);
}

std::vector<Layer> layers_explained_by(const std::string& path) {
  const std::string root = path.substr(0, path.find_first_of(".["));
  if (root == "nics" || root == "infiniband_ports" || root == "infiniband") {
    return {Layer::network};
  }
  if (root == "disks" || root == "mounts") {
    return {Layer::storage};
  }
  if (root == "probes") {
    return {Layer::storage, Layer::input};
  }
  if (root == "gpus") {
    return {Layer::compute, Layer::copy};
  }
  if (root == "pci") {
    return {Layer::copy, Layer::fabric, Layer::network, Layer::storage};
  }
  return {Layer::host};
}

// Adds who of those that own `all` differs from what most of them have.
void compare(const std::string& path, const std::vector<Facts>& all, const std::vector<int>& owners,
             std::vector<Difference>& result) {
  if (all.size() < kFewestNodes) {
    return;
  }
  const Majority most = majority(all, path);
  if (most.count == all.size() ||
      static_cast<double>(most.count) < kMajority * static_cast<double>(all.size())) {
    return;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Json value = fact_of(all[i], path);
    if (!same(path, value, most.value) && !follows_from_element(path, all[i], all)) {
      result.push_back({owners[i], path, sentence(path, value, most, all.size())});
    }
  }
}

}  // namespace

std::vector<NodeInfo> with_probe_facts(const RunData& run) {
  std::vector<NodeInfo> nodes = run.header.nodes;
  for (const SampleRecord& sample : run.samples) {
    Json& inventory = nodes.at(sample.node).inventory;
    if (sample.status != Status::ok || !inventory.is_object() || !sample.detail.is_object() ||
        run.steps.at(sample.step).sampled) {
      continue;
    }
    const auto facts = sample.detail.find("facts");
    if (facts != sample.detail.end() && facts->is_object()) {
      inventory["probes"][run.steps.at(sample.step).id] = *facts;
    }
  }
  return nodes;
}

std::vector<Difference> differences(const std::vector<NodeInfo>& nodes) {
  std::vector<Facts> all;
  std::vector<int> owners;
  std::set<std::string> paths;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (!nodes[node].inventory.is_null()) {
      Facts facts;
      flatten(nodes[node].inventory, "", "", facts);
      for (const auto& [path, value] : facts) {
        paths.insert(path);
      }
      all.push_back(std::move(facts));
      owners.push_back(static_cast<int>(node));
    }
  }
  std::vector<Difference> result;
  for (const std::string& path : paths) {
    if (!path.starts_with(kOfProbes)) {
      compare(path, all, owners, result);
      continue;
    }
    // Of a probe that did not run on a node nothing is known there.
    std::vector<Facts> told;
    std::vector<int> by;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].contains(path)) {
        told.push_back(all[i]);
        by.push_back(owners[i]);
      }
    }
    compare(path, told, by, result);
  }
  std::ranges::stable_sort(result, {}, &Difference::node);
  result.resize(std::min(result.size(), kMostDifferences));
  return result;
}

void add_as_evidence(const std::vector<Difference>& differences, const std::vector<NodeInfo>& nodes,
                     std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (finding.direction == Direction::fast) {
      continue;
    }
    for (const Difference& difference : differences) {
      const std::string& name = nodes[difference.node].name;
      const bool concerned =
          finding.subject.node == name || finding.subject.a == name || finding.subject.b == name;
      const auto layers = layers_explained_by(difference.path);
      if (concerned && std::ranges::find(layers, finding.layer) != layers.end()) {
        finding.evidence.push_back(
            {finding.subject.kind == "link" ? name + ": " + difference.text : difference.text,
             "inventory"});
      }
    }
  }
}

}  // namespace fleetbench::detect
