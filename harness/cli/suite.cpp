#include "harness/cli/suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "harness/record/run_directory.hpp"
#include "results-schema/check.hpp"
#include "results-schema/embedded.hpp"

namespace fleetbench::cli {
namespace {

constexpr const char* kInventory = "inventory";

bool matches_any(const std::vector<std::string>& globs, const ScenarioStep& step) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return fnmatch(glob.c_str(), step.id.c_str(), 0) == 0 ||
           fnmatch(glob.c_str(), step.probe.c_str(), 0) == 0;
  });
}

// A glob that matches nothing is a slip of the pen, not a wish.
void check_globs(const std::vector<std::string>& globs, const char* option,
                 const Scenario& scenario) {
  for (const auto& glob : globs) {
    const bool matches =
        std::any_of(scenario.steps.begin(), scenario.steps.end(),
                    [&](const ScenarioStep& step) { return matches_any({glob}, step); });
    if (!matches) {
      std::vector<std::string> ids;
      for (const auto& step : scenario.steps) {
        ids.push_back(step.id);
      }
      throw InputError(fmt::format("--{} {}: matches no step of suite {}, which has {}", option,
                                   glob, scenario.name, fmt::join(ids, ", ")));
    }
  }
}

void choose_steps(Scenario& scenario, const SuiteOptions& options) {
  check_globs(options.only, "only", scenario);
  check_globs(options.skip, "skip", scenario);
  std::erase_if(scenario.steps, [&](const ScenarioStep& step) {
    const bool facts = step.probe == kInventory;
    return (!facts && !options.only.empty() && !matches_any(options.only, step)) ||
           matches_any(options.skip, step);
  });
  const bool measures = std::any_of(scenario.steps.begin(), scenario.steps.end(),
                                    [](const auto& step) { return step.probe != kInventory; });
  if (!measures) {
    throw InputError(
        fmt::format("--only and --skip leave no step of suite {} to measure; leave one of them out",
                    scenario.name));
  }
}

// Every run begins with what the nodes are; a scenario may say it, but need not.
void put_inventory_first(Scenario& scenario) {
  const auto is_inventory = [](const auto& step) { return step.probe == kInventory; };
  if (std::none_of(scenario.steps.begin(), scenario.steps.end(), is_inventory)) {
    ScenarioStep step;
    step.id = kInventory;
    step.probe = kInventory;
    step.limit_s = 30;
    scenario.steps.insert(scenario.steps.begin(), step);
  }
}

std::string names(const std::vector<plan::ProbeChoice>& probes) {
  std::vector<std::string> result;
  for (const auto& probe : probes) {
    result.push_back(probe.info.name);
  }
  return fmt::format("{}", fmt::join(result, ", "));
}

// A scenario that names a folder itself means it.
void use_scratch(ScenarioStep& step, const ProbeInfo& probe, const std::string& scratch) {
  const bool writes = probe.params_schema.at("properties").contains("directory");
  if (writes && !scratch.empty() && !step.params.contains("directory")) {
    step.params["directory"] = scratch;
  }
}

// Of steps whose GPUs measure with each other, and of others that cannot be asked for that.
std::string meeting_fault(const ScenarioStep& step, const ProbeInfo& info) {
  const bool is_pair = info.participants == Participants::pair;
  const bool meets_in_rails = step.across ? *step.across == Across::rails : is_pair;
  if (!info.joins_workers) {
    return step.across || step.cross_rails > 0
               ? fmt::format(
                     "{}: has no meaning for {}, whose GPUs do not measure with each other; "
                     "leave it out",
                     step.across ? "across" : "cross_rails", info.name)
               : "";
  }
  if (is_pair && step.across == Across::node) {
    return fmt::format("across: {} measures two nodes, so \"rails\" or \"nodes\"", info.name);
  }
  if (step.cross_rails > 0 && !(is_pair && meets_in_rails)) {
    return "cross_rails: has no meaning but for pairs across rails; leave it out";
  }
  if (step.devices != Devices::all && !meets_in_rails) {
    return "devices: has no meaning where all GPUs measure with each other; leave it out, or say "
           "\"across\": \"rails\"";
  }
  return step.groups && step.across == Across::node
             ? "groups: has no meaning within a node; leave it out"
             : "";
}

std::string schedule_fault(const ScenarioStep& step, const plan::ProbeChoice& probe) {
  const ProbeInfo& info = probe.info;
  if (loads_what_is_shared(step) && step.schedule != Schedule::ramp &&
      step.schedule != Schedule::alone) {
    return "params.shared: what all nodes share is not loaded by all of them at once: say "
           "\"schedule\": \"ramp\", or \"alone\"";
  }
  if (step.devices != Devices::all && probe.runner != plan::Runner::gpu_workers) {
    return fmt::format("devices: has no meaning for {}, which measures no GPUs; leave it out",
                       info.name);
  }
  if (step.devices != Devices::all && info.all_gpus) {
    return fmt::format(
        "devices: has no meaning for {}, which takes all GPUs of a node; leave it out", info.name);
  }
  if (step.schedule == Schedule::ramp && info.participants != Participants::node) {
    return fmt::format("schedule: \"ramp\" is for probes of a node, and {} is one of a {}",
                       info.name, to_string(info.participants));
  }
  return "";
}

// Steps on GPUs where nothing here can measure them.
std::vector<OmissionRecord> leave_out_absent(Scenario& scenario, const Catalog& catalog) {
  std::vector<OmissionRecord> left_out;
  std::erase_if(scenario.steps, [&](const ScenarioStep& step) {
    const auto reason = catalog.why_absent(step.probe);
    if (reason) {
      left_out.push_back({step.id, std::nullopt, *reason});
    }
    return reason.has_value();
  });
  const bool nothing = std::ranges::all_of(
      scenario.steps, [](const ScenarioStep& step) { return step.probe == kInventory; });
  if (nothing && !left_out.empty()) {
    throw InputError(fmt::format("suite {}: nothing of it can be measured: {}", scenario.name,
                                 left_out.front().reason));
  }
  return left_out;
}

std::vector<plan::ProbeChoice> complete(Scenario& scenario, const Catalog& catalog,
                                        const std::string& scratch) {
  std::vector<plan::ProbeChoice> chosen;
  std::vector<std::string> faults;
  for (auto& step : scenario.steps) {
    const auto* probe = catalog.find(step.probe);
    const auto path = fmt::format("step \"{}\"", step.id);
    if (probe == nullptr) {
      faults.push_back(fmt::format("{}: \"{}\" is no probe; there are {}", path, step.probe,
                                   names(catalog.probes())));
      continue;
    }
    use_scratch(step, probe->info, scratch);
    step.params = with_defaults(step.params, probe->info.params_schema);
    for (auto& fault : check_against(step.params, probe->info.params_schema, "params")) {
      faults.push_back(fmt::format("{}: {}", path, fault));
    }
    for (const auto& fault : {schedule_fault(step, *probe), meeting_fault(step, probe->info)}) {
      if (!fault.empty()) {
        faults.push_back(fmt::format("{}: {}", path, fault));
      }
    }
    if (step.groups && probe->info.participants != Participants::group) {
      faults.push_back(
          fmt::format("{}: groups: has no meaning for {}, which measures each {} by "
                      "itself; leave it out",
                      path, step.probe, to_string(probe->info.participants)));
    }
    chosen.push_back(*probe);
  }
  if (!faults.empty()) {
    const auto prefix = "suite " + scenario.name + ": ";
    throw InputError(prefix + fmt::format("{}", fmt::join(faults, "\n" + prefix)));
  }
  return chosen;
}

// What GPUs measure with each other within a node is the node's, and its fabric's.
void describe_as_of_nodes(std::vector<MetricInfo>& metrics) {
  for (MetricInfo& metric : metrics) {
    if (metric.subject == SubjectKind::group) {
      metric.subject = SubjectKind::node;
      metric.layer = Layer::fabric;
    }
  }
}

}  // namespace

Scenario load_scenario(const std::string& suite) {
  std::vector<std::string> known;
  for (const auto& file : embedded_scenarios()) {
    if (file.name == suite) {
      return parse_scenario(file.text, suite);
    }
    known.push_back(file.name);
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(suite, error)) {
    throw InputError(fmt::format("--suite {}: is neither a suite ({}) nor a file", suite,
                                 fmt::join(known, ", ")));
  }
  return parse_scenario(record::read_whole(suite, kLongestScenario), suite);
}

Suite resolve(const SuiteOptions& options, Catalog& catalog) {
  Scenario scenario = load_scenario(options.suite);
  put_inventory_first(scenario);
  choose_steps(scenario, options);
  if (options.passes > 0) {
    scenario.passes = options.passes;
  }
  return resolve_again(std::move(scenario), options, catalog);
}

Suite resolve_again(Scenario scenario, const SuiteOptions& options, Catalog& catalog) {
  Suite suite{.scenario = std::move(scenario), .steps = {}, .left_out = {}};
  suite.left_out = leave_out_absent(suite.scenario, catalog);
  const auto probes = complete(suite.scenario, catalog, options.scratch);
  suite.steps = plan::plan_steps(suite.scenario, probes, options.schedule,
                                 options.nodes_by == plan::NodesBy::rank);
  for (auto& step : suite.steps) {
    try {
      step.metrics = catalog.metrics({step.probe, step.runner}, step.scenario.params);
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("suite {}: step \"{}\": {}", suite.scenario.name, step.id, error.what()));
    }
    if (step.probe.joins_workers && step.across == Across::node) {
      describe_as_of_nodes(step.metrics);
    }
  }
  return suite;
}

}  // namespace fleetbench::cli
