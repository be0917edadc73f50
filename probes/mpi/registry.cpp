#include <algorithm>

#include "probes/mpi/mpi_probe.hpp"

namespace fleetbench {

const std::vector<std::unique_ptr<MpiProbe>>& mpi_probes() {
  static const std::vector<std::unique_ptr<MpiProbe>> probes = [] {
    std::vector<std::unique_ptr<MpiProbe>> list;
    list.push_back(make_mpi_pairs());
    list.push_back(make_mpi_collectives());
    return list;
  }();
  return probes;
}

const MpiProbe* find_mpi_probe(std::string_view name) {
  const auto found = std::ranges::find_if(
      mpi_probes(), [name](const auto& probe) { return probe->info().name == name; });
  return found == mpi_probes().end() ? nullptr : found->get();
}

}  // namespace fleetbench
