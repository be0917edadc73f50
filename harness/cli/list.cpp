// `fleetbench list probes|suites|metrics`
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/suite.hpp"
#include "results-schema/check.hpp"
#include "results-schema/embedded.hpp"

namespace fleetbench::cli {
namespace {

void list_suites() {
  for (const auto& file : embedded_scenarios()) {
    const auto scenario = parse_scenario(file.text, file.name);
    fmt::print("{}: {}\n", scenario.name, scenario.description);
    for (const auto& step : scenario.steps) {
      fmt::print("    {:<18}{}, {} passes\n", step.id, to_string(step.schedule),
                 step.passes.value_or(scenario.passes));
    }
  }
}

// "0.01 to 3600"; "any of fp32, fp64"; empty where all of its type is allowed.
std::string allowed_by(const Json& rules) {
  const bool many = rules.contains("items");
  const Json& values = many ? rules.at("items") : rules;
  if (values.contains("enum")) {
    return fmt::format("{} of {}", many ? "any" : "one",
                       fmt::join(values.at("enum").get<std::vector<std::string>>(), ", "));
  }
  const bool above = values.contains("exclusiveMinimum");
  if (!above && !values.contains("minimum")) {
    return "";
  }
  return fmt::format("{}{} to {}", above ? "above " : "",
                     values.at(above ? "exclusiveMinimum" : "minimum").dump(),
                     values.at("maximum").dump());
}

void list_probes(const Catalog& catalog) {
  for (const auto& probe : catalog.probes()) {
    fmt::print("{}: {} (layer {}, one {} at a time)\n", probe.info.name, probe.info.summary,
               to_string(probe.info.layer), to_string(probe.info.participants));
    // Named, for it must live as long as the loop.
    const Json properties = probe.info.params_schema.value("properties", Json::object());
    for (const auto& [name, rules] : properties.items()) {
      const std::string allowed = allowed_by(rules);
      fmt::print("    {:<20}{} (default {}{}{})\n", name, rules.value("description", ""),
                 rules.value("default", Json()).dump(), allowed.empty() ? "" : "; ", allowed);
    }
  }
  if (const auto reason = catalog.why_absent("gpu_gemm")) {
    fmt::print("GPUs are not measured: {}\n", *reason);
  }
}

// As far as this installation can measure it.
std::vector<plan::PlannedStep> steps_of(const std::string& suite, Catalog& catalog) {
  try {
    return resolve({.suite = suite, .only = {}, .skip = {}}, catalog).steps;
  } catch (const InputError& error) {
    fmt::print("    {}\n", error.what());
    return {};
  }
}

// Metrics depend on parameters: those of each built-in suite.
void list_metrics(Catalog& catalog) {
  for (const auto& file : embedded_scenarios()) {
    fmt::print("{}:\n", file.name);
    for (const auto& step : steps_of(file.name, catalog)) {
      for (const auto& metric : step.metrics) {
        fmt::print(
            "    {:<36} {:<7} {:<17} {:<8} of each {:<5} {}\n", step.id + "." + metric.name,
            metric.unit,
            metric.judged ? fmt::format("{} is better", to_string(metric.better)) : "explains only",
            to_string(metric.layer), to_string(metric.subject), metric.description);
      }
    }
  }
}

Usage usage() {
  return {.program = "fleetbench list",
          .summary =
              "Lists the probes with their parameters, the suites with their steps, or the metrics "
              "of each suite.",
          .synopsis = "probes|suites|metrics",
          .options = {},
          .epilogue = "",
          .positional = 1};
}

}  // namespace

int list_command(const Invocation& invocation) {
  const auto arguments = parse(usage(), invocation.arguments);
  if (arguments.has("help")) {
    fmt::print("{}", help(usage()));
    return kOk;
  }
  const auto what = arguments.positional().empty() ? "" : arguments.positional().front();
  if (what != "probes" && what != "suites" && what != "metrics") {
    throw InputError(fmt::format(
        "list \"{}\": say one of `fleetbench list probes`, `list suites`, `list metrics`", what));
  }
  if (what == "suites") {
    list_suites();
    return kOk;
  }
  auto worker = local_worker();
  Catalog catalog(worker);
  if (what == "probes") {
    list_probes(catalog);
  } else {
    list_metrics(catalog);
  }
  return kOk;
}

}  // namespace fleetbench::cli
