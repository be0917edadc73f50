#include "harness/simulate/outcomes.hpp"

namespace fleetbench::simulation {

Outcomes::Outcomes(const Fleet& fleet) : fleet_(fleet) {
  for (const Trouble& trouble : fleet.troubles) {
    troubles_[{trouble.group, trouble.subject, trouble.pass}] = &trouble;
  }
}

Outcome Outcomes::of(std::size_t group, int subject, int pass) const {
  const int node = subject / fleet_.per_node(fleet_.groups[group]);
  if (!fleet_.lost_from.empty() && fleet_.lost_from[node] <= pass) {
    return {.recorded = false, .lost = true};
  }
  const auto found = troubles_.find({group, subject, pass});
  if (found == troubles_.end()) {
    return {};
  }
  return {.recorded = !found->second->absent, .status = found->second->status};
}

}  // namespace fleetbench::simulation
