#include "probes/registry.hpp"

namespace fleetbench {
namespace {

// One line per probe.
std::vector<std::unique_ptr<Probe>> make_all() {
  std::vector<std::unique_ptr<Probe>> probes;
  probes.push_back(make_inventory());
  probes.push_back(make_cpu_gemm());
  probes.push_back(make_host_memory());
  probes.push_back(make_storage());
  probes.push_back(make_image_decode());
  probes.push_back(make_token_pack());
  probes.push_back(make_command());
  probes.push_back(make_fleet_command());
  return probes;
}

}  // namespace

const std::vector<std::unique_ptr<Probe>>& worker_probes() {
  static const auto probes = make_all();
  return probes;
}

const Probe* find_worker_probe(std::string_view name) {
  for (const auto& probe : worker_probes()) {
    if (probe->info().name == name) {
      return probe.get();
    }
  }
  return nullptr;
}

}  // namespace fleetbench
