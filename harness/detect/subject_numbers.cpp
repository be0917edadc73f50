#include "harness/detect/subject_numbers.hpp"

#include <algorithm>

#include "harness/detect/cohorts.hpp"

namespace fleetbench::detect {
namespace {

template <typename Key>
void number_in_order(std::map<Key, int>& numbers, std::vector<Key>& keys) {
  for (auto& [key, number] : numbers) {
    number = static_cast<int>(keys.size());
    keys.push_back(key);
  }
}

bool has_group_metrics(const StepRecord& step) {
  return std::ranges::any_of(
      step.metrics, [](const MetricInfo& metric) { return metric.subject == SubjectKind::group; });
}

void number_devices(const RunData& run, Names& names, Numbers& numbers) {
  const auto add = [&](const std::string& device) {
    if (!device.empty() && numbers.devices.try_emplace(device, 0).second) {
      names.devices.push_back(device);
    }
  };
  for (const SampleRecord& sample : run.samples) {
    add(sample.device);
    for (const End& end : sample.ends) {
      add(end.device);
    }
  }
  std::ranges::sort(names.devices);
  for (std::size_t i = 0; i < names.devices.size(); ++i) {
    numbers.devices[names.devices[i]] = static_cast<int>(i);
  }
}

std::vector<int> sorted(std::vector<int> group) {
  std::ranges::sort(group);
  return group;
}

std::vector<int> all_nodes(const RunData& run) {
  std::vector<int> nodes;
  for (const NodeInfo& node : run.header.nodes) {
    nodes.push_back(node.index);
  }
  return sorted(std::move(nodes));
}

}  // namespace

std::vector<Port> ends_of(const SampleRecord& sample, const Numbers& numbers) {
  std::vector<Port> ends;
  for (const End& end : sample.ends) {
    ends.push_back({end.node, numbers.devices.at(end.device)});
  }
  std::ranges::sort(ends);
  return ends;
}

int group_of(const SampleRecord& sample, const Numbers& numbers) {
  return sample.group.empty() ? numbers.fleet : numbers.groups.at(sorted(sample.group));
}

void number_subjects(const RunData& run, Names& names, Numbers& numbers) {
  number_devices(run, names, numbers);
  bool of_fleet = false;
  for (const SampleRecord& sample : run.samples) {
    if (!sample.ends.empty()) {
      numbers.ends.try_emplace(ends_of(sample, numbers), 0);
    }
    if (has_group_metrics(run.steps.at(sample.step))) {
      of_fleet = of_fleet || sample.group.empty();
      if (!sample.group.empty()) {
        numbers.groups.try_emplace(sorted(sample.group), 0);
      }
    }
  }
  // Once, and not for each of its samples: these are many, and so are its members.
  const std::vector<int> fleet = all_nodes(run);
  if (of_fleet) {
    numbers.groups.try_emplace(fleet, 0);
  }
  number_in_order(numbers.groups, names.groups);
  number_in_order(numbers.ends, names.ends);
  numbers.fleet = of_fleet ? numbers.groups.at(fleet) : -1;
}

void number_cohorts(const RunData& run, Names& names) {
  std::map<std::string, int> numbers;
  const std::vector<std::string> keys = cohorts_of(run.header.nodes);
  for (const std::string& key : keys) {
    numbers.try_emplace(key, 0);
  }
  for (auto& [key, number] : numbers) {
    number = static_cast<int>(names.cohort_names.size());
    names.cohort_names.push_back(key);
  }
  for (const std::string& key : keys) {
    names.cohorts.push_back(numbers.at(key));
  }
}

}  // namespace fleetbench::detect
