#include "harness/cli/judgement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "harness/cli/command.hpp"
#include "harness/cli/topology_source.hpp"
#include "harness/detect/detect.hpp"
#include "harness/report/escape.hpp"
#include "harness/report/pair_matrix.hpp"
#include "harness/report/report.hpp"
#include "probes/support/launch_warnings.hpp"

namespace fleetbench::cli {
namespace {

// What launch_warnings() looks at: the whole of a large node as a tree takes long to copy.
Json parts_with_limits(const Inventory& inventory) {
  Json parts = Json::object();
  for (const char* name : {"cpu", "memory", "limits"}) {
    parts[name] = inventory.part(name);
  }
  return parts;
}

// The same warning of many nodes is said once.
std::vector<std::string> warnings_of(const std::vector<NodeInfo>& nodes) {
  std::map<std::string, std::vector<std::string>> nodes_by_warning;
  for (const auto& node : nodes) {
    if (!node.inventory.is_object()) {
      continue;
    }
    for (const auto& warning : launch_warnings(parts_with_limits(node.inventory))) {
      nodes_by_warning[warning].push_back(node.name);
    }
  }
  std::vector<std::string> notes;
  for (const auto& [warning, names] : nodes_by_warning) {
    const auto who =
        names.size() == nodes.size() && names.size() > 1 ? fmt::format("all {} nodes", names.size())
        : names.size() > 3 ? fmt::format("{} and {} more nodes", names.front(), names.size() - 1)
                           : fmt::format("{}", fmt::join(names, ", "));
    notes.push_back(fmt::format("{}: {}", who, warning));
  }
  return notes;
}

// mpirun gives its first rank a terminal of its own, whatever its own output goes to; escape codes
// in somebody's log file are worse than a plain terminal.
bool wants_colour() {
  return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr &&
         std::getenv("OMPI_COMM_WORLD_RANK") == nullptr;
}

}  // namespace

Report judge(const RunData& run, const std::map<Layer, double>& min_effect,
             std::shared_ptr<const Baseline> baseline) {
  DetectOptions options;
  options.min_effect = min_effect;
  options.baseline = std::move(baseline);
  Report report = analyze(run, options);
  for (auto& note : warnings_of(run.header.nodes)) {
    report.notes.push_back(std::move(note));
  }
  if (auto note = nodes_without_switch(run.header)) {
    report.notes.push_back(std::move(*note));
  }
  return report;
}

void print(const Report& report, const RunData& run, bool json, const std::string& where) {
  if (json) {
    fmt::print("{}", report_json(report));
  } else {
    fmt::print("{}", summary_text(report, {.colour = wants_colour()}));
    if (const std::string pairs = pair_matrices_of_findings(run, report); !pairs.empty()) {
      fmt::print("\n{}", pairs);
    }
    if (!where.empty()) {
      fmt::print("Run directory: {}\n", report::escaped(where));
    }
  }
  std::fflush(stdout);
}

int run_exit_code(Verdict verdict, bool exit_on_warn) {
  switch (verdict) {
    case Verdict::pass:
      return kOk;
    case Verdict::warn:
      return exit_on_warn ? kWarnVerdict : kOk;
    case Verdict::fail:
      return kFailVerdict;
    case Verdict::inconclusive:
      return kInconclusive;
  }
  return kInternalError;
}

}  // namespace fleetbench::cli
