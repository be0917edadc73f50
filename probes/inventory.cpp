// The facts about a node that explain its figures, and by which nodes are told apart: see
// support/node_inventory.hpp. Measures nothing.
#include "probes/probe.hpp"
#include "probes/registry.hpp"
#include "probes/support/node_inventory.hpp"

namespace fleetbench {

namespace {

class PreparedInventory : public Prepared {
 public:
  Measurement measure() override { return {.values = {}, .detail = node_inventory(HostFiles())}; }
};

class Inventory : public Probe {
 public:
  ProbeInfo info() const override {
    return {.name = "inventory",
            .summary = "Facts about the node: CPUs, memory, PCI tree, NICs, disks, mounts, limits",
            .layer = Layer::host,
            .participants = Participants::node,
            .params_schema = {{"type", "object"},
                              {"properties", Json::object()},
                              {"additionalProperties", false}},
            .facts_only = true};
  }

  std::vector<MetricInfo> metrics(const Json& /*params*/) const override { return {}; }

  std::unique_ptr<Prepared> prepare(const Json& /*params*/, const Json& /*work*/) const override {
    return std::make_unique<PreparedInventory>();
  }
};

}  // namespace

std::unique_ptr<Probe> make_inventory() { return std::make_unique<Inventory>(); }

}  // namespace fleetbench
