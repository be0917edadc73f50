#include "harness/simulate/text.hpp"

#include <fmt/format.h>

#include "harness/simulate/outcomes.hpp"

namespace fleetbench::simulation {
namespace {

class Rows {
 public:
  explicit Rows(const Fleet& fleet) : fleet_(fleet), outcomes_(fleet) {
    for (std::size_t m = 0; m < fleet.metrics.size(); ++m) {
      const MetricInfo& info = fleet.metrics[m].info;
      facts_.push_back(fmt::format("{},{},{},{}", metric_name(fleet, m), info.unit,
                                   to_string(info.better), to_string(info.layer)));
    }
  }

  std::string text() && {
    for (int pass = 0; pass < fleet_.spec.passes; ++pass) {
      for (std::size_t g = 0; g < fleet_.groups.size(); ++g) {
        for (int subject = 0; subject < fleet_.subjects(fleet_.groups[g]); ++subject) {
          add(pass, g, subject);
        }
      }
    }
    return std::move(text_);
  }

 private:
  void add(int pass, std::size_t g, int subject) {
    const Group& group = fleet_.groups[g];
    const Outcome outcome = outcomes_.of(g, subject, pass);
    if (!outcome.recorded) {
      return;
    }
    const Subject who = subject_of(fleet_, group, subject);
    const int node = subject / fleet_.per_node(group);
    const std::string cohort = fleet_.generations.empty() ? "" : fleet_.generations[node];
    for (std::size_t m = group.first; m < group.first + group.count; ++m) {
      const std::string value =
          outcome.status == Status::ok
              ? fmt::format(
                    "{}",
                    raw_value(fleet_, m, fleet_.measured[m][subject * fleet_.spec.passes + pass]))
              : "";
      fmt::format_to(std::back_inserter(text_), "{},{},{},{},{},{},{}\n", who.node, who.device,
                     facts_[m], cohort, pass + 1, value, to_string(outcome.status));
    }
  }

  const Fleet& fleet_;
  Outcomes outcomes_;
  std::vector<std::string> facts_;  // by metric
  std::string text_ = "node,device,metric,unit,better,layer,cohort,pass,value,status\n";
};

Json spec_json(const FleetSpec& spec) {
  Json spreads = Json::array();
  for (const double spread : spec.spreads) {
    spreads.push_back(100 * spread);
  }
  return {{"nodes", spec.nodes},
          {"devices", spec.devices},
          {"metrics", spec.metrics},
          {"passes", spec.passes},
          {"spreads_pct", std::move(spreads)},
          {"noise", {spec.noise_low, spec.noise_high}},
          {"tails", to_string(spec.tails)},
          {"correlation", spec.correlation},
          {"fault", to_string(spec.fault)},
          {"effect_pct", 100 * spec.effect},
          {"faulty", spec.faulty},
          {"nuisance", to_string(spec.nuisance)}};
}

Json fault_json(const TrueFault& fault) {
  Json subject = {{"kind", fault.subject.kind}};
  if (!fault.subject.node.empty()) {
    subject["node"] = fault.subject.node;
  }
  if (!fault.subject.device.empty()) {
    subject["device"] = fault.subject.device;
  }
  return {{"subject", std::move(subject)},
          {"direction", to_string(fault.direction)},
          {"layer", to_string(fault.layer)},
          {"metrics", fault.metrics},
          {"slowdown_pct", 100 * fault.effect}};
}

}  // namespace

std::string to_csv(const Fleet& fleet) { return Rows(fleet).text(); }

Json truth_of(const Fleet& fleet) {
  Json faults = Json::array();
  for (const TrueFault& fault : fleet.faults) {
    faults.push_back(fault_json(fault));
  }
  Json metrics = Json::array();
  for (std::size_t m = 0; m < fleet.metrics.size(); ++m) {
    const Metric& metric = fleet.metrics[m];
    metrics.push_back({{"metric", metric_name(fleet, m)},
                       {"layer", to_string(metric.info.layer)},
                       {"unit", metric.info.unit},
                       {"typical", metric.typical},
                       {"between_pct", 100 * metric.between},
                       {"within_pct", 100 * metric.within}});
  }
  return {{"seed", fleet.seed},
          {"run", fleet.run},
          {"fleet", spec_json(fleet.spec)},
          {"faults", std::move(faults)},
          {"metrics", std::move(metrics)}};
}

}  // namespace fleetbench::simulation
