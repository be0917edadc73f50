// Collectives over all members of a group, in a sweep of sizes, over MPI.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "probes/mpi/collective.hpp"
#include "probes/mpi/collective_sweep.hpp"
#include "probes/mpi/mpi_probe.hpp"

namespace fleetbench {
namespace {

SweepPlan plan_of(const Json& params) {
  SweepPlan plan{.collectives = {}, .sweep = sweep_params(params)};
  for (const std::string& name : plan.sweep.collectives) {
    plan.collectives.push_back(&collective_named(name));
  }
  return plan;
}

Json sweep_schema() {
  SweepLimits limits{.collectives = {}, .end_bytes = 4 << 20, .largest_bytes = 1 << 30};
  for (const Collective& collective : collectives()) {
    limits.collectives.push_back(collective.rule->name);
  }
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"type", "object"},
          {"properties", sweep_properties(limits)},
          {"additionalProperties", false}};
}

std::string size_text(const CollectiveRule& rule) {
  return rule.shared_out ? "shared out among the members (each share in whole 16 bytes; no value "
                           "where there are too few)"
                         : "on each member";
}

MetricInfo busbw_metric(const Collective& collective, std::size_t bytes) {
  const CollectiveRule& rule = *collective.rule;
  return {.name = busbw_name(rule.name, bytes),
          .unit = "B/s",
          .better = Better::higher,
          .layer = Layer::network,
          .subject = SubjectKind::group,
          .symmetric = false,
          .description = fmt::format(
              "Bus bandwidth of {} of {} bytes {}, float{}{}: the blocking {} in a loop, timed by "
              "each rank for itself, under MPI_THREAD_MULTIPLE; bytes / time times nccl-tests' "
              "factor.",
              rule.name, bytes, size_text(rule), rule.redop == "sum" ? ", sum" : "",
              rule.root == 0 ? ", from the first member" : "", collective.mpi_call),
          .next_check =
              "A collective is as slow as its slowest member or link and names neither: look at "
              "mpi_pairs of the same run, then at what all nodes share (switch, uplinks, routing, "
              "congestion by other jobs: `ibqueryerrors`, `perfquery`, `ethtool -S IFACE`). All "
              "pairs fine: another algorithm or transport of MPI (`mpirun --mca coll_base_verbose "
              "10`), ranks bound to the wrong NUMA node, a node whose CPU is busy (host metrics)."};
}

class MpiCollectives : public MpiProbe {
 public:
  ProbeInfo info() const override {
    return {.name = "mpi_collectives",
            .summary = "collectives over all nodes of a group in a sweep of sizes, over MPI",
            .layer = Layer::network,
            .participants = Participants::group,
            .params_schema = sweep_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& params) const override {
    const SweepPlan plan = plan_of(params);
    std::vector<MetricInfo> list;
    for (const Collective* collective : plan.collectives) {
      for (const std::size_t bytes : plan.sweep.sizes_bytes) {
        list.push_back(busbw_metric(*collective, bytes));
      }
    }
    return list;
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& /*work*/,
                                    const MpiGroup& group) const override {
    if (group.members.size() < 2) {
      throw NotAvailable(fmt::format("mpi_collectives takes two nodes or more, this slot has {}",
                                     group.members.size()));
    }
    auto prepared = std::make_unique<CollectiveSweep>(plan_of(params), group);
    prepared->verify();
    prepared->find_clock();
    return prepared;
  }
};

}  // namespace

std::unique_ptr<MpiProbe> make_mpi_collectives() { return std::make_unique<MpiCollectives>(); }

}  // namespace fleetbench
