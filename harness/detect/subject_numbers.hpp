// Numbers for the texts and lists that say what a sample is about.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/detect/table.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::detect {

// Positions in Names, in an order that does not depend on that of the samples.
struct Numbers {
  std::unordered_map<std::string, int> devices;
  std::map<std::vector<int>, int> groups;
  int fleet = -1;  // the group of all nodes
  std::map<std::vector<Port>, int> ends;
};

std::vector<Port> ends_of(const SampleRecord& sample, const Numbers& numbers);
// Of those who measured together: the whole fleet, where the sample does not say.
int group_of(const SampleRecord& sample, const Numbers& numbers);

void number_subjects(const RunData& run, Names& names, Numbers& numbers);
void number_cohorts(const RunData& run, Names& names);

}  // namespace fleetbench::detect
