#include "harness/detect/device_errors.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "harness/detect/reading_lines.hpp"

namespace fleetbench::detect {
namespace {

constexpr const char* kCheck =
    "On the node: `nvidia-smi -q -d ECC,ROW_REMAPPER`, `dmesg | grep -i xid`; take it out of "
    "service, reset the GPU or restart the node, and measure it again. If errors come back, or "
    "rows "
    "cannot be remapped, have it replaced.";

struct Place {
  Json::json_pointer pointer;
  bool of_each = false;  // of what it holds
};

std::vector<Place> places() {
  std::vector<Place> result;
  for (const ReadingType& type : reading_types()) {
    const bool each = type.path.ends_with("/*");
    if (type.condemns) {
      const auto path = type.path.substr(0, type.path.size() - (each ? 2 : 0));
      result.push_back({Json::json_pointer(std::string(path)), each});
    }
  }
  return result;
}

bool reports(const Json& detail, const Place& place) {
  if (!detail.contains(place.pointer)) {
    return false;
  }
  const Json& value = detail.at(place.pointer);
  return place.of_each ? !value.empty()
                       : value == Json(true) || (value.is_number() && value.get<double>() > 0);
}

// Nothing is laid out of the others, which are nearly all.
std::set<Reader> reporting(const RunData& run) {
  std::set<Reader> readers;
  const std::vector<Place> all = places();
  for (const SampleRecord& sample : run.samples) {
    const bool may = !sample.device.empty() && !sample.confirms && sample.detail.is_object() &&
                     sample.detail.contains("gpu");
    if (may && std::ranges::any_of(
                   all, [&](const Place& place) { return reports(sample.detail, place); })) {
      readers.insert({sample.node, sample.device});
    }
  }
  return readers;
}

// Taken out of service anyway.
bool is_found(const std::vector<Finding>& findings, const std::string& node,
              const std::string& device) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    const bool is_broken =
        finding.direction == Direction::wrong || finding.direction == Direction::missing;
    return is_broken && finding.subject.node == node && finding.subject.device == device;
  });
}

std::vector<int> steps_of_devices(const RunData& run) {
  std::set<int> steps;
  for (const SampleRecord& sample : run.samples) {
    if (!sample.device.empty()) {
      steps.insert(sample.step);
    }
  }
  return {steps.begin(), steps.end()};
}

Finding finding_of(const std::string& node, const Reader& reader) {
  Finding finding;
  finding.subject.kind = "device";
  finding.subject.node = node;
  finding.subject.device = reader.device;
  finding.direction = Direction::wrong;
  finding.status = FindingStatus::suspect;
  finding.layer = Layer::compute;
  finding.p_value = 0;
  finding.next_check = kCheck;
  return finding;
}

}  // namespace

std::vector<Finding> device_errors(const RunData& run, const Names& names,
                                   const std::vector<Finding>& findings) {
  std::vector<Finding> result;
  const std::set<Reader> readers = reporting(run);
  if (readers.empty()) {
    return result;
  }
  const std::vector<bool> peers = peers_in(names);
  std::vector<bool> looked_at = peers;
  for (const Reader& reader : readers) {
    looked_at[static_cast<std::size_t>(reader.node)] = true;
  }
  const ReadingsOfSteps readings(run, steps_of_devices(run), looked_at);
  for (const Reader& reader : readers) {
    const std::string& node = names.nodes.at(static_cast<std::size_t>(reader.node));
    if (is_found(findings, node, reader.device)) {
      continue;
    }
    Finding finding = finding_of(node, reader);
    const Sides sides{reader.node, reader.device, {reader.node}, ""};
    for (Line& line : lines_of({readings, names, peers, 0}, sides)) {
      if (line.type->condemns) {
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
