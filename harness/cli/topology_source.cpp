#include "harness/cli/topology_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/record/recorder.hpp"
#include "harness/record/topology_file.hpp"
#include "harness/record/topology_nodes.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

constexpr std::size_t kMostTold = 20;
constexpr std::size_t kMostNamed = 5;

}  // namespace

Option topology_option() {
  return {"topology", "the switches between the nodes, as Slurm's topology.conf describes them",
          "FILE"};
}

Topology read_topology_file(const std::string& path) {
  auto file = record::read_topology({path, record::read_whole(path)});
  if (file.errors.empty()) {
    return std::move(file.topology);
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(kMostTold, file.errors.size()); ++i) {
    lines.push_back(file.errors[i].text());
  }
  if (file.errors.size() > kMostTold) {
    lines.push_back(fmt::format("and {} more like these", file.errors.size() - kMostTold));
  }
  throw InputError(fmt::format("{}", fmt::join(lines, "\n")));
}

std::vector<std::string> describe_switches(RunHeader& header, const Topology& topology,
                                           const std::string& path) {
  std::vector<std::string> names;
  for (const NodeInfo& node : header.nodes) {
    names.push_back(node.name);
  }
  auto matched = record::match_topology(topology, names);
  header.topology = std::move(matched.topology);
  if (header.topology.empty()) {
    return {fmt::format("{}: names none of the nodes of this run, as {}; it is not used", path,
                        names.empty() ? "there are none" : names.front())};
  }
  if (matched.others > 0) {
    return {fmt::format("{}: names {} {} that took no part in this run", path, matched.others,
                        matched.others == 1 ? "node" : "nodes")};
  }
  return {};
}

std::optional<std::string> nodes_without_switch(const RunHeader& header) {
  std::set<std::string> below;
  for (const Switch& one : header.topology.switches) {
    below.insert(one.nodes.begin(), one.nodes.end());
  }
  std::vector<std::string> without;
  for (const NodeInfo& node : header.nodes) {
    if (!below.contains(node.name)) {
      without.push_back(node.name);
    }
  }
  if (header.topology.empty() || without.empty()) {
    return std::nullopt;
  }
  const std::size_t named = std::min(kMostNamed, without.size());
  const std::string more =
      without.size() > named ? fmt::format(" and {} more", without.size() - named) : "";
  without.resize(named);
  return fmt::format("topology: no switch is known for {}{}", fmt::join(without, ", "), more);
}

}  // namespace fleetbench::cli
