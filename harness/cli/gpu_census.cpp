#include "harness/cli/gpu_census.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace fleetbench::cli {
namespace {

bool is_list_of_gpus(const Json& gpus) {
  return gpus.is_array() && std::ranges::all_of(gpus, [](const Json& gpu) {
           return gpu.is_object() && gpu.value("uuid", Json()).is_string() &&
                  gpu.value("address", Json()).is_string();
         });
}

bool is_count(const Json& value) { return value.is_number_integer() && value.get<double>() >= 0; }

// A worker that is sick may say anything.
Json readable(const Json& answer) {
  const auto has = [&answer](const char* key, bool (*is_right)(const Json&)) {
    return !answer.contains(key) || is_right(answer.at(key));
  };
  const auto is_text = [](const Json& value) { return value.is_string(); };
  const bool is_right = answer.is_object() && has("gpus", is_list_of_gpus) &&
                        has("on_pci", [](const Json& value) { return value.is_array(); }) &&
                        has("reason", is_text) && has("let_see", is_count) &&
                        has("let_see_by", is_text);
  return is_right ? answer : Json{{"reason", "what its GPU worker says cannot be read"}};
}

std::vector<plan::SeenGpu> seen_in(const Json& answer) {
  std::vector<plan::SeenGpu> seen;
  for (const Json& gpu : answer.value("gpus", Json::array())) {
    seen.push_back({gpu.value("uuid", ""), gpu.value("address", "")});
  }
  return seen;
}

// What one rank shows less than it is let see; empty where it shows all.
std::string lack_of(const Json& answer) {
  if (!answer.contains("on_pci")) {
    return answer.value("reason", "it does not say what GPUs it has");
  }
  const std::size_t shown = answer.value("gpus", Json::array()).size();
  if (!answer.contains("let_see")) {
    return shown < answer.at("on_pci").size() ? answer.value("reason", "CUDA does not say why")
                                              : "";
  }
  const auto let_see = answer.at("let_see").get<std::size_t>();
  return shown < let_see
             ? fmt::format("{}, of these {} CUDA shows {}{}{}", answer.value("let_see_by", ""),
                           let_see, shown, answer.contains("reason") ? ": " : "",
                           answer.value("reason", ""))
             : "";
}

// Where CUDA shows less than the PCI tree: whether that is meant to be. All ranks are let see some
// and see them, or "lacks" says who does not.
void explain_hidden(const NodeInfo& node, const std::map<int, Json>& by_rank, Json& facts) {
  if (!facts.contains("on_pci") || facts.at("on_pci").size() <= facts.at("gpus").size()) {
    return;
  }
  std::set<std::string> limits;
  for (const int rank : node.ranks) {
    const auto found = by_rank.find(rank);
    if (found == by_rank.end()) {
      continue;
    }
    if (auto lack = lack_of(found->second); !lack.empty()) {
      facts["lacks"] = std::move(lack);
      return;
    }
    limits.insert(found->second.value("let_see_by", ""));
  }
  facts["hidden_by"] =
      limits.size() == 1 ? *limits.begin() : fmt::format("{} and others", *limits.begin());
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
  for (const char* part :
       {"gpus", "resources", "evidence", "not_measured", "let_see", "let_see_by"}) {
    facts.erase(part);
  }
  facts["gpus"] = Json::array();
  for (auto& [address, gpu] : gpus) {
    facts["gpus"].push_back(std::move(gpu));
  }
  explain_hidden(node, by_rank, facts);
  return facts;
}

// By which samples know them.
void add_labels(const std::vector<plan::OwnedGpu>& owned, Json& facts) {
  for (const plan::OwnedGpu& gpu : owned) {
    for (Json& entry : facts["gpus"]) {
      if (entry.value("uuid", "") == gpu.uuid) {
        entry["label"] = gpu.label;
      }
    }
  }
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
  const std::string reason =
      facts.contains("hidden_by")
          ? fmt::format("the others are hidden from this run ({})", facts.value("hidden_by", ""))
          : facts.value("lacks", facts.value("reason", ""));
  return fmt::format("{}: the PCI tree shows {} GPU{}, CUDA {}{}{}", node.name, on_pci,
                     on_pci == 1 ? "" : "s", in_cuda == 0 ? "none" : fmt::format("{}", in_cuda),
                     reason.empty() ? "" : ": ", reason);
}

// By UUID.
std::map<std::string, std::string> labels_in(const Json& cuda) {
  std::map<std::string, std::string> labels;
  const Json gpus = cuda.is_object() ? cuda.value("gpus", Json::array()) : Json::array();
  if (is_list_of_gpus(gpus)) {
    for (const Json& gpu : gpus) {
      const Json label = gpu.value("label", Json());
      if (label.is_string()) {
        labels[gpu.at("uuid").get<std::string>()] = label.get<std::string>();
      }
    }
  }
  return labels;
}

}  // namespace

GpuCensus take_census(const std::vector<NodeInfo>& nodes, const std::map<int, Json>& answers,
                      const std::vector<NodeInfo>& before) {
  GpuCensus census;
  std::map<int, Json> by_rank;
  std::map<int, std::vector<plan::SeenGpu>> seen;
  for (const auto& [rank, answer] : answers) {
    by_rank[rank] = readable(answer);
    seen[rank] = seen_in(by_rank[rank]);
  }
  census.gpus = plan::seat_gpus(nodes, seen);
  for (std::size_t node = 0; node < before.size() && node < nodes.size(); ++node) {
    plan::keep_labels(labels_in(before[node].inventory.part("cuda")), census.gpus[node]);
  }
  for (const NodeInfo& node : nodes) {
    census.facts.push_back(facts_of(node, by_rank));
    Json& facts = census.facts.back();
    add_labels(census.gpus[static_cast<std::size_t>(&node - nodes.data())], facts);
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
