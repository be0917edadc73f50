#include "harness/cli/gpu_census.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace fleetbench::cli {
namespace {

std::vector<plan::SeenGpu> seen_in(const Json& answer) {
  std::vector<plan::SeenGpu> seen;
  for (const Json& gpu : answer.value("gpus", Json::array())) {
    seen.push_back({gpu.value("uuid", ""), gpu.value("address", "")});
  }
  return seen;
}

// What the ranks of a node say, as one: a launcher may show each of them some of its GPUs.
Json facts_of(const NodeInfo& node, const std::map<int, Json>& by_rank) {
  Json facts;
  std::map<std::string, Json> gpus;  // by address
  for (const int rank : node.ranks) {
    const auto found = by_rank.find(rank);
    if (found == by_rank.end()) {
      continue;
    }
    if (facts.is_null() || facts.contains("reason")) {
      facts = found->second;
    }
    for (const Json& gpu : found->second.value("gpus", Json::array())) {
      gpus[gpu.value("address", "")] = gpu;
    }
  }
  if (facts.is_null()) {
    return facts;
  }
  for (const char* part : {"gpus", "resources", "evidence", "not_measured"}) {
    facts.erase(part);
  }
  facts["gpus"] = Json::array();
  for (auto& [address, gpu] : gpus) {
    facts["gpus"].push_back(std::move(gpu));
  }
  return facts;
}

std::optional<std::string> note_on(const NodeInfo& node, const Json& facts) {
  if (facts.is_null()) {
    return std::nullopt;
  }
  if (!facts.contains("on_pci")) {
    return fmt::format("{}: does not say what GPUs it has: {}", node.name,
                       facts.value("reason", ""));
  }
  const std::size_t on_pci = facts.at("on_pci").size();
  const std::size_t in_cuda = facts.at("gpus").size();
  if (on_pci <= in_cuda) {
    return std::nullopt;
  }
  const std::string reason = facts.value("reason", "");
  return fmt::format("{}: the PCI tree shows {} GPU{}, CUDA {}{}{}", node.name, on_pci,
                     on_pci == 1 ? "" : "s", in_cuda == 0 ? "none" : fmt::format("{}", in_cuda),
                     reason.empty() ? "" : ": ", reason);
}

}  // namespace

GpuCensus take_census(const std::vector<NodeInfo>& nodes, const std::map<int, Json>& by_rank) {
  GpuCensus census;
  std::map<int, std::vector<plan::SeenGpu>> seen;
  for (const auto& [rank, answer] : by_rank) {
    seen[rank] = seen_in(answer);
  }
  census.gpus = plan::seat_gpus(nodes, seen);
  for (const NodeInfo& node : nodes) {
    census.facts.push_back(facts_of(node, by_rank));
    const Json& facts = census.facts.back();
    // Who could not say may have some.
    census.any = census.any ||
                 (!facts.is_null() && (!facts.at("gpus").empty() || !facts.contains("on_pci") ||
                                       !facts.at("on_pci").empty()));
    if (auto note = note_on(node, facts)) {
      census.notes.push_back(std::move(*note));
    }
  }
  return census;
}

}  // namespace fleetbench::cli
