// One metric of one subject, straight from the samples.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/detect/table.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::detect {

// A metric as findings name it: "mpi_pairs.bandwidth sending" is what a node's links show of it.
struct Figure {
  int step = 0;
  std::size_t metric = 0;
  Role role = Role::own;
};

// None where the run has no metric of that name for a subject of `kind`.
std::optional<Figure> figure_named(const RunData& run, const std::string& name,
                                   const std::string& kind);

// A node with all its devices, one device, or a link. A link of which both directions count is not
// directed. With a device a metric of pairs is that of the node's rail, or of a link on that rail.
struct Target {
  int node = 0;
  std::optional<int> peer;
  std::string device;
  bool directed = false;

  bool operator==(const Target&) const = default;
};

// The subject of a finding as positions in the run; none of a group, of a rail of several nodes, of
// a switch, or of what the run lacks.
std::optional<Target> target_of(const RunData& run, const Subject& subject);

// Whether a sample of a pair was measured by this device of this node.
bool carried_by(const SampleRecord& sample, int node, const std::string& device);

// Median of what the samples that `chosen` accepts say about the subject, on the log scale,
// positive is slow. None where they say nothing.
std::optional<double> level_of(const RunData& run, const Figure& figure, const Target& target,
                               const std::function<bool(const SampleRecord&)>& chosen);

}  // namespace fleetbench::detect
