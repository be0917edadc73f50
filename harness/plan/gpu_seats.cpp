#include "harness/plan/gpu_seats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace fleetbench::plan {
namespace {

using Addresses = std::vector<std::string>;

struct Sighting {
  std::string pci_address;
  std::vector<int> ranks;
};

// By UUID.
std::map<std::string, Sighting> sightings(const NodeInfo& node,
                                          const std::map<int, std::vector<SeenGpu>>& by_rank) {
  std::map<std::string, Sighting> result;
  for (const int rank : node.ranks) {
    const auto seen = by_rank.find(rank);
    if (seen == by_rank.end()) {
      continue;
    }
    for (const SeenGpu& gpu : seen->second) {
      auto& sighting = result[gpu.uuid];
      sighting.pci_address = gpu.pci_address;
      sighting.ranks.push_back(rank);
    }
  }
  return result;
}

std::vector<OwnedGpu> owned(const NodeInfo& node,
                            const std::map<int, std::vector<SeenGpu>>& by_rank) {
  std::vector<std::pair<std::string, Sighting>> gpus;
  for (auto& entry : sightings(node, by_rank)) {
    gpus.push_back(entry);
  }
  std::ranges::sort(gpus, {},
                    [](const auto& gpu) { return std::pair(gpu.second.pci_address, gpu.first); });
  std::map<int, int> load;
  std::vector<OwnedGpu> result;
  for (const auto& [uuid, sighting] : gpus) {
    const int rank = *std::ranges::min_element(sighting.ranks, {},
                                               [&load](int candidate) { return load[candidate]; });
    ++load[rank];
    result.push_back(
        {.label = "", .uuid = uuid, .pci_address = sighting.pci_address, .rank = rank});
  }
  return result;
}

Addresses addresses_of(const std::vector<OwnedGpu>& gpus) {
  Addresses addresses;
  for (const OwnedGpu& gpu : gpus) {
    addresses.push_back(gpu.pci_address);
  }
  return addresses;
}

// That of more than half of the nodes that have any.
std::optional<Addresses> usual_addresses(const std::vector<std::vector<OwnedGpu>>& nodes) {
  std::map<Addresses, std::size_t> counts;
  std::size_t all = 0;
  for (const auto& gpus : nodes) {
    if (!gpus.empty()) {
      ++counts[addresses_of(gpus)];
      ++all;
    }
  }
  for (const auto& [addresses, count] : counts) {
    if (2 * count > all) {
      return addresses;
    }
  }
  return std::nullopt;
}

void name(std::vector<OwnedGpu>& gpus, const std::optional<Addresses>& usual) {
  const Addresses own = addresses_of(gpus);
  const bool is_part = usual && std::ranges::includes(*usual, own);
  const Addresses& places = is_part ? *usual : own;
  // Both are in order; several parts of one device have one address.
  auto place = places.begin();
  for (OwnedGpu& gpu : gpus) {
    place = std::find(place, places.end(), gpu.pci_address);
    gpu.label = fmt::format("gpu{}", place - places.begin());
    ++place;
  }
}

}  // namespace

std::vector<std::vector<OwnedGpu>> seat_gpus(const std::vector<NodeInfo>& nodes,
                                             const std::map<int, std::vector<SeenGpu>>& by_rank) {
  std::vector<std::vector<OwnedGpu>> result;
  for (const NodeInfo& node : nodes) {
    result.push_back(owned(node, by_rank));
  }
  const auto usual = usual_addresses(result);
  for (auto& gpus : result) {
    name(gpus, usual);
  }
  return result;
}

void keep_labels(const std::map<std::string, std::string>& labels, std::vector<OwnedGpu>& gpus) {
  std::set<std::string> taken;
  for (const auto& [uuid, label] : labels) {
    taken.insert(label);
  }
  for (OwnedGpu& gpu : gpus) {
    const auto known = labels.find(gpu.uuid);
    if (known != labels.end()) {
      gpu.label = known->second;
      continue;
    }
    for (int number = 0; taken.contains(gpu.label); ++number) {
      gpu.label = fmt::format("gpu{}", number);
    }
    taken.insert(gpu.label);
  }
}

std::vector<std::string> labels_of(const std::vector<std::vector<OwnedGpu>>& gpus) {
  std::set<std::pair<std::size_t, std::string>> by_length;  // gpu2 comes before gpu10
  for (const auto& of_node : gpus) {
    for (const OwnedGpu& gpu : of_node) {
      by_length.emplace(gpu.label.size(), gpu.label);
    }
  }
  std::vector<std::string> labels;
  for (const auto& [length, label] : by_length) {
    labels.push_back(label);
  }
  return labels;
}

std::string describe(const std::vector<std::vector<OwnedGpu>>& gpus) {
  if (gpus.empty()) {
    return "";
  }
  const auto [fewest, most] =
      std::ranges::minmax(gpus, {}, [](const auto& of_node) { return of_node.size(); });
  if (most.empty()) {
    return "";
  }
  const char* plural = most.size() == 1 ? "" : "s";
  return fewest.size() == most.size()
             ? fmt::format("{} GPU{} on each", most.size(), plural)
             : fmt::format("{} to {} GPUs on each", fewest.size(), most.size());
}

}  // namespace fleetbench::plan
