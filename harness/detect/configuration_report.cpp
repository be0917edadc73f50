// What is said of nodes that are set up differently: evidence of findings, and a list.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/detect/configuration.hpp"
#include "harness/detect/explains.hpp"
#include "harness/detect/gpu_settings.hpp"

namespace fleetbench::detect {
namespace {

using ByName = std::map<std::string, std::vector<const Difference*>>;

void add_of_node(const std::string& name, const std::vector<const Difference*>& own,
                 const Inventory& inventory, Finding& finding) {
  const std::string prefix = finding.subject.kind == "link" ? name + ": " : "";
  std::size_t count = 0;
  for (const Difference* difference : own) {
    const auto layers = layers_explained_by(difference->path, inventory);
    const bool is_of_another = !difference->device.empty() && !finding.subject.device.empty() &&
                               difference->device != finding.subject.device;
    if (!is_of_another && std::ranges::find(layers, finding.layer) != layers.end() &&
        ++count <= kMostEvidence) {
      finding.evidence.push_back({prefix + difference->text, "inventory"});
    }
  }
  if (count > kMostEvidence) {
    finding.evidence.push_back(
        {fmt::format("{}{} more of its settings differ", prefix, count - kMostEvidence),
         "inventory"});
  }
}

bool is_of_software(const Difference& difference) {
  return difference.path.starts_with("cuda.") && !difference.path.starts_with(kGpuPaths);
}

// The positions of those that are shown, in their order.
std::vector<std::size_t> chosen(const std::vector<Difference>& differences) {
  std::vector<std::size_t> positions(differences.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    positions[i] = i;
  }
  std::ranges::stable_sort(positions, {}, [&](std::size_t i) { return differences[i].alike; });
  positions.resize(std::min(positions.size(), kMostDifferences));
  std::ranges::sort(positions);
  return positions;
}

}  // namespace

void add_as_evidence(const std::vector<Difference>& differences, const std::vector<NodeInfo>& nodes,
                     std::vector<Finding>& findings) {
  ByName by_name;
  for (const Difference& difference : differences) {
    by_name[nodes[difference.node].name].push_back(&difference);
  }
  for (Finding& finding : findings) {
    if (finding.direction == Direction::fast) {
      continue;
    }
    const Subject& subject = finding.subject;
    for (const std::string& name : std::set<std::string>{subject.node, subject.a, subject.b}) {
      const auto found = by_name.find(name);
      if (found != by_name.end()) {
        const NodeInfo& node = nodes[found->second.front()->node];
        add_of_node(name, found->second, node.inventory, finding);
      }
    }
  }
}

std::string cause_of_skipping(const std::vector<Difference>& differences,
                              const std::vector<NodeInfo>& nodes, Layer layer,
                              const std::vector<int>& skipped, std::size_t asked) {
  constexpr std::size_t kMostCauses = 2;
  std::vector<std::string> own;
  std::vector<std::string> others;
  for (const Difference& difference : differences) {
    const NodeInfo& node = nodes[static_cast<std::size_t>(difference.node)];
    const auto layers = layers_explained_by(difference.path, node.inventory);
    if (is_of_software(difference) && std::ranges::find(layers, layer) != layers.end()) {
      const bool is_own = std::ranges::find(skipped, difference.node) != skipped.end();
      (is_own ? own : others).push_back(node.name + ": " + difference.text);
    }
  }
  const bool most_skipped = 2 * skipped.size() > asked;
  std::vector<std::string>& causes = own.empty() && most_skipped ? others : own;
  causes.resize(std::min(causes.size(), kMostCauses));
  return fmt::format("{}", fmt::join(causes, "; "));
}

void list_differences(const std::vector<Difference>& differences,
                      const std::vector<NodeInfo>& nodes, Report& report) {
  const std::vector<std::size_t> shown = chosen(differences);
  for (const std::size_t i : shown) {
    const Difference& difference = differences[i];
    report.configuration.push_back(
        {nodes[difference.node].name + ": " + difference.text, "inventory"});
  }
  if (shown.size() < differences.size()) {
    std::set<int> who;
    for (const Difference& difference : differences) {
      who.insert(difference.node);
    }
    report.notes.push_back(fmt::format(
        "{} settings of {} nodes differ from those of most nodes: the {} rarest are listed",
        differences.size(), who.size(), shown.size()));
  }
}

}  // namespace fleetbench::detect
