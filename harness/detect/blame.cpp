#include "harness/detect/blame.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fleetbench::detect {
namespace {

std::size_t few(std::size_t of) { return std::max<std::size_t>(1, of / 5); }

// The failures of a step of pairs, by the node that most of whose pairs failed; what is left are
// links of their own.
struct Shares {
  std::map<int, Troubles> by_node;
  std::map<int, std::size_t> partners;  // asked
  Troubles links;
};

std::size_t pairs_with(const auto& by_pair, int node) {
  return static_cast<std::size_t>(
      std::count_if(by_pair.begin(), by_pair.end(), [node](const auto& entry) {
        return entry.first.first == node || entry.first.second == node;
      }));
}

Troubles take_pairs_of(int node, Troubles& from) {
  Troubles taken;
  for (auto pair = from.begin(); pair != from.end();) {
    const bool touches = pair->first.first == node || pair->first.second == node;
    if (touches) {
      taken.insert(*pair);
    }
    pair = touches ? from.erase(pair) : std::next(pair);
  }
  return taken;
}

// The node with the largest share of failed pairs, where that is more than half of at least two.
std::optional<int> worst_node(const std::map<int, std::size_t>& partners, const Troubles& failed) {
  std::optional<int> worst;
  double largest = 0.5;
  for (const auto& [node, asked] : partners) {
    const double share = static_cast<double>(pairs_with(failed, node)) / static_cast<double>(asked);
    if (asked >= 2 && share > largest) {
      worst = node;
      largest = share;
    }
  }
  return worst;
}

Shares share_out(const StepAttempts& attempts, const Troubles& troubles) {
  Shares shares;
  for (const auto& [who, passes] : attempts.passes) {
    for (const int node : {who.first, who.second}) {
      if (node >= 0) {
        ++shares.partners[node];
      }
    }
  }
  shares.links = troubles;
  while (const auto node = worst_node(shares.partners, shares.links)) {
    shares.by_node[*node] = take_pairs_of(*node, shares.links);
  }
  return shares;
}

const std::string& first_reason(const Troubles& troubles) {
  return troubles.begin()->second.front()->reason;
}

bool all_timed_out(const Troubles& troubles) {
  return std::all_of(troubles.begin(), troubles.end(), [](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(),
                       [](const Trouble* trouble) { return trouble->status == Status::timeout; });
  });
}

std::string in_passes(const StepAttempts& attempts, Who who,
                      const std::vector<const Trouble*>& troubles) {
  std::set<int> passes;
  for (const Trouble* trouble : troubles) {
    passes.insert(trouble->pass);
  }
  const std::size_t asked = attempts.passes.at(who).size();
  return fmt::format("in {} of {} {}", passes.size(), asked, asked == 1 ? "pass" : "passes");
}

Subject node_subject(const RunData& run, int node) {
  Subject subject;
  subject.kind = "node";
  subject.node = run.header.nodes.at(node).name;
  return subject;
}

Subject link_subject(const RunData& run, Who who) {
  Subject subject;
  subject.kind = "link";
  subject.a = run.header.nodes.at(who.first).name;
  subject.b = run.header.nodes.at(who.second).name;
  return subject;
}

Subject subject_of(const RunData& run, Who who, const std::string& device) {
  if (who.second >= 0) {
    return link_subject(run, who);
  }
  Subject subject = node_subject(run, who.first);
  if (!device.empty()) {
    subject.kind = "device";
    subject.device = device;
  }
  return subject;
}

// The failures of a node by device, where it is not all of them that failed; else under "".
using ByDevice = std::map<std::string, std::vector<const Trouble*>>;
ByDevice by_device(const StepAttempts& attempts, Who who,
                   const std::vector<const Trouble*>& troubles) {
  ByDevice parts;
  for (const Trouble* trouble : troubles) {
    parts[trouble->device].push_back(trouble);
  }
  const auto devices = attempts.devices.find(who.first);
  const std::size_t all = devices == attempts.devices.end() ? 0 : devices->second.size();
  const bool whole = parts.contains("") || (all > 1 && parts.size() == all);
  return whole ? ByDevice{{"", troubles}} : parts;
}

std::vector<Blame> each_on_its_own(const RunData& run, const StepAttempts& attempts,
                                   const Troubles& troubles) {
  std::vector<Blame> result;
  for (const auto& [who, of_subject] : troubles) {
    for (const auto& [device, part] : by_device(attempts, who, of_subject)) {
      const Troubles one{{who, part}};
      result.push_back({subject_of(run, who, device), in_passes(attempts, who, part),
                        first_reason(one), all_timed_out(one), part.front()->metric});
    }
  }
  return result;
}

std::set<int> nodes_of(const Troubles& troubles) {
  std::set<int> nodes;
  for (const auto& [who, of_subject] : troubles) {
    nodes.insert(who.first);
    if (who.second >= 0) {
      nodes.insert(who.second);
    }
  }
  return nodes;
}

Blame blame_group(const RunData& run, const StepAttempts& attempts, const Troubles& troubles) {
  Subject subject;
  subject.kind = "group";
  for (const int node : nodes_of(troubles)) {
    subject.nodes.push_back(run.header.nodes.at(node).name);
  }
  return {subject, fmt::format("on {} of {} nodes", subject.nodes.size(), attempts.participants()),
          first_reason(troubles), all_timed_out(troubles), ""};
}

// Who failed did so by itself; who was late only shows that somebody of the group was.
std::vector<Blame> blame_members(const RunData& run, const StepAttempts& attempts,
                                 const Troubles& troubles) {
  Troubles failed;
  Troubles late;
  for (const auto& [who, of_node] : troubles) {
    for (const Trouble* trouble : of_node) {
      (trouble->status == Status::timeout ? late : failed)[who].push_back(trouble);
    }
  }
  std::vector<Blame> result = each_on_its_own(run, attempts, failed);
  if (late.size() >= 2) {
    result.push_back(blame_group(run, attempts, late));
  } else if (!late.empty()) {
    result.push_back(each_on_its_own(run, attempts, late).front());
  }
  return result;
}

}  // namespace

std::optional<TooMany> too_many_to_blame(const StepAttempts& attempts, const Troubles& troubles) {
  const std::size_t nodes = attempts.participants();
  if (!attempts.pairs) {
    if (troubles.size() <= few(nodes) && troubles.size() < nodes) {
      return std::nullopt;
    }
    return TooMany{fmt::format("on {} of {} nodes", troubles.size(), nodes),
                   first_reason(troubles)};
  }
  const Shares shares = share_out(attempts, troubles);
  const std::size_t pairs = attempts.passes.size();
  if (shares.by_node.size() <= few(nodes) && shares.links.size() <= few(pairs) &&
      troubles.size() < pairs) {
    return std::nullopt;
  }
  return TooMany{fmt::format("on {} of {} pairs", troubles.size(), pairs), first_reason(troubles)};
}

std::vector<Blame> blame_all(const RunData& run, const StepAttempts& attempts,
                             const Troubles& troubles) {
  const std::size_t nodes = attempts.participants();
  if (attempts.group && troubles.begin()->second.front()->status == Status::wrong) {
    return {blame_group(run, attempts, troubles)};
  }
  if (attempts.group && 2 * troubles.size() <= nodes) {
    return blame_members(run, attempts, troubles);
  }
  if (!attempts.pairs) {
    return troubles.size() >= 3 && 2 * troubles.size() > nodes
               ? std::vector{blame_group(run, attempts, troubles)}
               : each_on_its_own(run, attempts, troubles);
  }
  const Shares shares = share_out(attempts, troubles);
  if (shares.by_node.size() > few(nodes) || shares.links.size() > few(attempts.passes.size())) {
    return {blame_group(run, attempts, troubles)};
  }
  std::vector<Blame> result = each_on_its_own(run, attempts, shares.links);
  for (const auto& [node, of_node] : shares.by_node) {
    result.push_back(
        {node_subject(run, node),
         fmt::format("with {} of {} partners", of_node.size(), shares.partners.at(node)),
         first_reason(of_node), all_timed_out(of_node), ""});
  }
  return result;
}

}  // namespace fleetbench::detect
