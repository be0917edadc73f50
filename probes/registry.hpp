// The probes of fleetbench-worker, in the order in which they are listed.
#pragma once

#include "probes/probe.hpp"

namespace fleetbench {

const std::vector<std::unique_ptr<Probe>>& worker_probes();
const Probe* find_worker_probe(std::string_view name);  // null where there is none

std::unique_ptr<Probe> make_inventory();
std::unique_ptr<Probe> make_cpu_gemm();
std::unique_ptr<Probe> make_host_memory();
std::unique_ptr<Probe> make_storage();
std::unique_ptr<Probe> make_image_decode();
std::unique_ptr<Probe> make_token_pack();
std::unique_ptr<Probe> make_command();
std::unique_ptr<Probe> make_fleet_command();

}  // namespace fleetbench
