#include "harness/detect/port_errors.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "harness/detect/reading_lines.hpp"

namespace fleetbench::detect {
namespace {

constexpr const char* kCheck =
    "On the node: `ip -s -s link`, `ethtool -S IFACE`, `perfquery` and `ibqueryerrors` where there "
    "is InfiniBand; look again in an hour. If they go on rising, clean and reseat the cable or "
    "transceiver, then swap it, then the switch port. Either end may be at fault: the one that "
    "counts is the one that receives.";
constexpr std::size_t kFewestSlots = 2;
constexpr std::string_view kLost = "link_losses";

// Kinds of counters that warn: "ib_errors".
std::vector<std::string> kinds() {
  std::vector<std::string> result;
  for (const ReadingType& type : reading_types()) {
    if (type.warns) {
      result.emplace_back(type.path.substr(type.path.rfind('/') + 1));
    }
  }
  return result;
}

// Of one node: by port, the slots in which anything rose there; those in which its link was lost
// count as often as it takes.
struct PortSlots {
  std::map<std::string, std::set<int>> damaged;
  std::set<std::string> lost;
  std::set<int> steps;
};

void add(const Json& where, const SampleRecord& sample, const std::vector<std::string>& kinds,
         std::map<int, PortSlots>& nodes) {
  for (const std::string& kind : kinds) {
    const auto places = where.find(kind);
    if (places == where.end() || !places->is_object()) {
      continue;
    }
    for (const auto& [place, rise] : places->get_ref<const Json::object_t&>()) {
      const std::string port = place.substr(0, place.find(' '));
      PortSlots& slots = nodes[sample.node];
      slots.steps.insert(sample.step);
      slots.damaged[port].insert(sample.slot);
      if (kind == kLost) {
        slots.lost.insert(port);
      }
    }
  }
}

// Nothing is laid out of the others, which are nearly all.
std::map<int, PortSlots> rising(const RunData& run) {
  std::map<int, PortSlots> nodes;
  const auto wanted = kinds();
  for (const SampleRecord& sample : run.samples) {
    if (sample.confirms || !sample.detail.is_object()) {
      continue;
    }
    const auto evidence = sample.detail.find("evidence");
    if (evidence == sample.detail.end() || !evidence->is_object()) {
      continue;
    }
    const auto where = evidence->find("where");
    if (where != evidence->end() && where->is_object()) {
      add(*where, sample, wanted, nodes);
    }
  }
  return nodes;
}

std::vector<std::string> suspected_ports(const PortSlots& slots) {
  std::vector<std::string> ports;
  for (const auto& [port, damaged] : slots.damaged) {
    if (slots.lost.contains(port) || damaged.size() >= kFewestSlots) {
      ports.push_back(port);
    }
  }
  return ports;
}

bool is_found(const std::vector<Finding>& findings, const std::string& node) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    const Subject& subject = finding.subject;
    const bool is_its = subject.node == node || subject.a == node || subject.b == node;
    return is_its && finding.layer == Layer::network && finding.direction != Direction::fast;
  });
}

Finding finding_of(const std::string& node, const std::vector<std::string>& ports) {
  Finding finding;
  finding.subject.kind = ports.size() == 1 ? "device" : "node";
  finding.subject.node = node;
  finding.subject.device = ports.size() == 1 ? ports.front() : "";
  finding.direction = Direction::wrong;
  finding.status = FindingStatus::tentative;
  finding.layer = Layer::network;
  finding.p_value = 0;
  finding.next_check = kCheck;
  return finding;
}

}  // namespace

std::vector<Finding> port_errors(const RunData& run, const Names& names,
                                 const std::vector<Finding>& findings) {
  std::map<int, std::vector<std::string>> suspects;
  std::set<int> steps;
  std::vector<bool> looked_at = peers_in(names);
  for (const auto& [node, slots] : rising(run)) {
    auto ports = suspected_ports(slots);
    if (!ports.empty() && !is_found(findings, names.nodes.at(static_cast<std::size_t>(node)))) {
      suspects.emplace(node, std::move(ports));
      steps.insert(slots.steps.begin(), slots.steps.end());
      looked_at[static_cast<std::size_t>(node)] = true;
    }
  }
  std::vector<Finding> result;
  if (suspects.empty() || 2 * suspects.size() > names.nodes.size()) {
    return result;  // what most have is nobody's
  }
  const std::vector<bool> peers = peers_in(names);
  const ReadingsOfSteps readings(run, {steps.begin(), steps.end()}, looked_at);
  for (const auto& [node, ports] : suspects) {
    Finding finding = finding_of(names.nodes.at(static_cast<std::size_t>(node)), ports);
    for (Line& line : lines_of({readings, names, peers, 0}, {node, "", {node}, ""})) {
      const auto& reading = line.evidence.reading;
      if (line.type->warns && reading && reading->others == 0.0) {
        finding.evidence.push_back(std::move(line.evidence));
      }
    }
    if (!finding.evidence.empty()) {
      result.push_back(std::move(finding));
    }
  }
  return result;
}

}  // namespace fleetbench::detect
