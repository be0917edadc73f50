// From `--suite` and the options that change it to steps that can run.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/catalog.hpp"
#include "harness/plan/roster.hpp"
#include "harness/plan/slots.hpp"
#include "results-schema/scenario.hpp"

namespace fleetbench::cli {

struct SuiteOptions {
  std::string suite;              // a name from scenarios/ or a file
  std::vector<std::string> only;  // globs of step ids and probes
  std::vector<std::string> skip;
  int passes = 0;       // 0: the scenario's
  std::string scratch;  // folder on each node; empty: the probes' default
  plan::ScheduleOverride schedule = plan::ScheduleOverride::none;
  plan::NodesBy nodes_by = plan::NodesBy::host;
};

struct Suite {
  Scenario scenario;  // as it will run
  std::vector<plan::PlannedStep> steps;
  std::vector<OmissionRecord> left_out;  // steps that this installation cannot measure, and why
};

// The scenario that `suite` names: one that is built in, else a file. Throws InputError.
Scenario load_scenario(const std::string& suite);

// Chooses, completes and checks the steps against the catalog: the inventory first, then what the
// scenario says. Throws InputError naming every fault.
Suite resolve(const SuiteOptions& options, Catalog& catalog);

// The same of a scenario that was chosen and completed before, for a run that goes on.
Suite resolve_again(Scenario scenario, const SuiteOptions& options, Catalog& catalog);

}  // namespace fleetbench::cli
