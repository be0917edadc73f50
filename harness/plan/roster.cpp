#include "harness/plan/roster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace fleetbench::plan {
namespace {

// A name that no node has yet.
std::string unused(const std::string& name, std::set<std::string>& used) {
  std::string candidate = name;
  for (int number = 2; !used.insert(candidate).second; ++number) {
    candidate = fmt::format("{}#{}", name, number);
  }
  return candidate;
}

}  // namespace

std::vector<NodeInfo> make_nodes(const std::vector<RankInfo>& ranks, NodesBy by) {
  std::vector<NodeInfo> nodes;
  std::map<std::pair<std::string, std::string>, std::size_t> by_host;
  std::set<std::string> used;
  for (const auto& rank : ranks) {
    const auto host = std::pair(rank.host, rank.boot_id);
    const bool shares = by == NodesBy::host && rank.answered;
    if (shares && by_host.contains(host)) {
      nodes[by_host[host]].ranks.push_back(rank.rank);
      continue;
    }
    std::string name = by == NodesBy::rank ? fmt::format("{}:{}", rank.host, rank.rank) : rank.host;
    if (!rank.answered) {
      name = name_of_silent_rank(rank.rank);
    }
    if (shares) {
      by_host[host] = nodes.size();
    }
    nodes.push_back({.index = static_cast<int>(nodes.size()),
                     .name = unused(name, used),
                     .boot_id = rank.boot_id,
                     .ranks = {rank.rank},
                     .inventory = nullptr});
  }
  return nodes;
}

std::string name_of_silent_rank(int rank) { return fmt::format("rank {}", rank); }

std::string describe(const std::vector<NodeInfo>& nodes) {
  std::size_t ranks = 0;
  std::size_t fewest = nodes.empty() ? 0 : nodes.front().ranks.size();
  std::size_t most = 0;
  for (const auto& node : nodes) {
    ranks += node.ranks.size();
    fewest = std::min(fewest, node.ranks.size());
    most = std::max(most, node.ranks.size());
  }
  const auto each = fewest == most ? fmt::format("{} on each", most)
                                   : fmt::format("{} to {} on each", fewest, most);
  return fmt::format("{} rank{} on {} node{}{}", ranks, ranks == 1 ? "" : "s", nodes.size(),
                     nodes.size() == 1 ? "" : "s", nodes.size() > 1 ? ", " + each : "");
}

}  // namespace fleetbench::plan
