// What CUDA and NVML say of the GPUs that this process may use.
#include "probes/gpu/affinity.hpp"
#include "probes/gpu/gpus_of_node.hpp"
#include "probes/gpu/matmul.hpp"
#include "probes/gpu/nvml/nvml_library.hpp"
#include "probes/gpu/nvml/topology.hpp"
#include "probes/gpu/registry.hpp"
#include "probes/support/allowed_gpus.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>

namespace fleetbench::gpu {
namespace {

std::string text_by(nvml::Return (*function)(nvml::Device, char*, unsigned), nvml::Device device) {
  std::array<char, 96> text{};
  const auto code = nvml::call(function, device, text.data(), static_cast<unsigned>(text.size()));
  return code == nvml::kSuccess ? text.data() : "";
}

using Reading = std::function<nvml::Return(unsigned* value)>;

void add_number(Json& facts, const char* name, double unit, const Reading& reading) {
  unsigned value = 0;
  if (reading(&value) == nvml::kSuccess) {
    facts[name] = value * unit;
  }
}

void add_settings(Json& facts, const nvml::Calls& calls, nvml::Device device) {
  using nvml::call;
  add_number(facts, "power_limit_w", 1e-3,
             [&](unsigned* mw) { return call(calls.power_limit, device, mw); });
  add_number(facts, "default_power_limit_w", 1e-3,
             [&](unsigned* mw) { return call(calls.default_power_limit, device, mw); });
  add_number(facts, "max_sm_clock_hz", 1e6,
             [&](unsigned* mhz) { return call(calls.max_clock, device, nvml::kClockSm, mhz); });
  add_number(facts, "max_memory_clock_hz", 1e6,
             [&](unsigned* mhz) { return call(calls.max_clock, device, nvml::kClockMemory, mhz); });
  add_number(facts, "max_pcie_generation", 1,
             [&](unsigned* g) { return call(calls.max_pcie_generation, device, g); });
  add_number(facts, "max_pcie_width", 1,
             [&](unsigned* lanes) { return call(calls.max_pcie_width, device, lanes); });
}

void add_modes(Json& facts, const nvml::Calls& calls, nvml::Device device) {
  constexpr std::array<const char*, 4> kComputeModes{"default", "exclusive_thread", "prohibited",
                                                     "exclusive_process"};
  int mode = 0;
  if (nvml::call(calls.compute_mode, device, &mode) == nvml::kSuccess && mode >= 0 && mode < 4) {
    facts["compute_mode"] = kComputeModes[static_cast<std::size_t>(mode)];
  }
  unsigned mig = 0;
  unsigned pending = 0;
  if (nvml::call(calls.mig_mode, device, &mig, &pending) == nvml::kSuccess) {
    facts["mig"] = mig != 0;
  }
  int ecc = 0;
  int next_ecc = 0;
  if (nvml::call(calls.ecc_mode, device, &ecc, &next_ecc) == nvml::kSuccess) {
    facts["ecc"] = ecc != 0;
  }
}

// The row of the topology is for people: its key says that it differs by addresses, so that nodes
// are compared by the one text alone that tells of all paths.
void add_place(Json& facts, const nvml::Topology& topology, const nvml::Calls& calls,
               nvml::Device device) {
  const auto address = facts.at("address").get<std::string>();
  facts.update(affinity_facts(address, HostFiles(), calls, device));
  if (auto row = nvml::row_of(topology, address); !row.empty()) {
    facts["paths_by_address"] = std::move(row);
  }
}

Json facts_of(const GpuInfo& info) {
  return {{"uuid", info.uuid},
          {"address", info.pci_address},
          {"model", info.name},
          {"compute_capability",
           std::to_string(info.compute_major) + "." + std::to_string(info.compute_minor)},
          {"multiprocessors", info.multiprocessors},
          {"memory_bytes", info.memory_bytes},
          {"l2_bytes", info.l2_bytes},
          {"memory_bus_bits", info.memory_bus_bits}};
}

class PreparedInventory : public Prepared {
 public:
  Measurement measure() override {
    Measurement measurement;
    int runtime = 0;
    int driver = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    measurement.detail = {{"cuda_runtime", version_text(runtime)},
                          {"cuda_of_driver", version_text(driver)},
                          {"cublaslt", cublaslt_version()},
                          {"gpus", Json::array()}};
    try {
      for (const auto& info : visible_gpus()) {
        measurement.detail["gpus"].push_back(facts_of(info));
      }
      add_nvml(measurement.detail);
    } catch (const std::runtime_error& error) {
      measurement.detail["reason"] = error.what();
    }
    measurement.detail["on_pci"] = nvidia_gpus_on_pci(HostFiles());
    measurement.detail.update(
        allowed_gpus(HostFiles(), std::getenv("CUDA_VISIBLE_DEVICES"), may_open));
    return measurement;
  }

 private:
  static bool may_open(const std::string& path) { return access(path.c_str(), R_OK | W_OK) == 0; }

  static void add_nvml(Json& detail) {
    try {
      const nvml::Library library;
      std::array<char, 96> version{};
      if (nvml::call(library.calls().driver_version, version.data(),
                     static_cast<unsigned>(version.size())) == nvml::kSuccess) {
        detail["driver"] = version.data();
      }
      const nvml::Topology topology = nvml::topology_of(library);
      if (const auto text = nvml::text_of(topology); !text.empty()) {
        detail["topology"] = text;
      }
      for (Json& facts : detail["gpus"]) {
        add_facts_of(facts, library, topology, detail);
      }
    } catch (const std::runtime_error& error) {
      say_not_measured(detail, "driver, VBIOS, limits, modes and topology of GPUs", error);
    }
  }

  // One that NVML does not give leaves the others theirs.
  static void add_facts_of(Json& facts, const nvml::Library& library,
                           const nvml::Topology& topology, Json& detail) {
    const auto uuid = facts.at("uuid").get<std::string>();
    try {
      const auto device = library.device(uuid);
      add_place(facts, topology, library.calls(), device);
      facts["vbios"] = text_by(library.calls().vbios_version, device);
      add_settings(facts, library.calls(), device);
      add_modes(facts, library.calls(), device);
    } catch (const std::runtime_error& error) {
      say_not_measured(detail, "VBIOS, limits, modes and topology of " + uuid, error);
    }
  }

  static void say_not_measured(Json& detail, const std::string& what,
                               const std::runtime_error& error) {
    detail["not_measured"].push_back({{"what", what}, {"reason", error.what()}});
  }
};

class GpuInventory : public Probe {
 public:
  ProbeInfo info() const override {
    return {.name = "gpu_inventory",
            .summary = "Facts about the GPUs: models, driver, VBIOS, limits, modes, topology",
            .layer = Layer::compute,
            .participants = Participants::node,
            .params_schema = {{"type", "object"},
                              {"additionalProperties", false},
                              {"properties", Json::object()}},
            .facts_only = true};
  }
  std::vector<MetricInfo> metrics(const Json& /*params*/) const override { return {}; }
  std::unique_ptr<Prepared> prepare(const Json& /*params*/, const Json& /*work*/) const override {
    return std::make_unique<PreparedInventory>();
  }
};

}  // namespace

std::unique_ptr<Probe> make_gpu_inventory() { return std::make_unique<GpuInventory>(); }

}  // namespace fleetbench::gpu
