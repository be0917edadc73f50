#include "harness/detect/device_errors.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "harness/detect/reading_lines.hpp"

namespace fleetbench::detect {
namespace {

constexpr const char* kCheck =
    "On the node: `nvidia-smi -q -d ECC,ROW_REMAPPER`, `dmesg | grep -i xid`; take it out of "
    "service, reset the GPU or restart the node, and measure it again. If errors come back, or rows "
    "cannot be remapped, have it replaced.";

// Whether the device reports anything of this type. Nothing is laid out of those that do not.
bool reports(const Json& detail, const ReadingType& type) {
  const bool each = type.path.ends_with("/*");
  const Json::json_pointer pointer(std::string(type.path.substr(0, type.path.size() - (each ? 2 : 0))));
  if (!detail.contains(pointer)) {
    return false;
  }
  const Json& value = detail.at(pointer);
  if (each) {
    return !value.empty();
  }
  return value == Json(true) || (value.is_number() && value.get<double>() > 0);
}

std::set<Reader> reporting(const RunData& run) {
  std::set<Reader> readers;
  for (const SampleRecord& sample : run.samples) {
    const Reader reader{sample.node, sample.device};
    if (sample.device.empty() || sample.confirms || readers.contains(reader)) {
      continue;
    }
    for (const ReadingType& type : reading_types()) {
      if (type.condemns && reports(sample.detail, type)) {
        readers.insert(reader);
        break;
      }
    }
  }
  return readers;
}

bool is_found(const std::vector<Finding>& findings, const std::string& node,
              const std::string& device) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    const Subject& subject = finding.subject;
    return finding.direction != Direction::fast && subject.node == node &&
           (subject.device.empty() || subject.device == device);
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
  const std::vector<bool> all(run.header.nodes.size(), true);
  const ReadingsOfSteps readings(run, steps_of_devices(run), all);
  for (const Reader& reader : readers) {
    const std::string& node = names.nodes.at(static_cast<std::size_t>(reader.node));
    if (is_found(findings, node, reader.device)) {
      continue;
    }
    Finding finding = finding_of(node, reader);
    const Sides sides{reader.node, reader.device, {reader.node}, ""};
    for (Line& line : lines_of({readings, names, all, 0}, sides)) {
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
