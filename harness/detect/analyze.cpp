#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/detect/absent.hpp"
#include "harness/detect/attempts.hpp"
#include "harness/detect/component_tables.hpp"
#include "harness/detect/configuration.hpp"
#include "harness/detect/confirm.hpp"
#include "harness/detect/covariates.hpp"
#include "harness/detect/coverage.hpp"
#include "harness/detect/derived_tables.hpp"
#include "harness/detect/detect.hpp"
#include "harness/detect/device_errors.hpp"
#include "harness/detect/gpus_on_pci.hpp"
#include "harness/detect/group_tables.hpp"
#include "harness/detect/history.hpp"
#include "harness/detect/integrity.hpp"
#include "harness/detect/judge.hpp"
#include "harness/detect/late_members.hpp"
#include "harness/detect/next_check.hpp"
#include "harness/detect/pair_tables.hpp"
#include "harness/detect/port_errors.hpp"
#include "harness/detect/ranking.hpp"
#include "harness/detect/reading_evidence.hpp"
#include "harness/detect/reduce.hpp"
#include "harness/detect/significance.hpp"
#include "harness/detect/slow.hpp"
#include "harness/detect/slow_sizes.hpp"
#include "harness/detect/summary.hpp"
#include "harness/detect/two_nodes.hpp"
#include "harness/detect/verdict.hpp"

namespace fleetbench {
namespace {

using namespace detect;

template <typename T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void append_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& text : from) {
    if (std::find(to.begin(), to.end(), text) == to.end()) {
      to.push_back(text);
    }
  }
}

// By model: those that CUDA showed.
void count_gpus(const Inventory& inventory, std::map<std::string, int>& gpus) {
  const Json& cuda = inventory.part("cuda");
  if (!cuda.is_object() || !cuda.contains("gpus")) {
    return;
  }
  for (const Json& gpu : cuda.at("gpus")) {
    if (gpu.is_object() && gpu.contains("model") && gpu.at("model").is_string()) {
      ++gpus[gpu.at("model").get<std::string>()];
    }
  }
}

Report header_of(const RunData& run) {
  Report report;
  report.run_id = run.header.run_id;
  report.suite = run.header.suite;
  report.nodes = static_cast<int>(run.header.nodes.size());
  for (const NodeInfo& node : run.header.nodes) {
    report.ranks += static_cast<int>(node.ranks.size());
    count_gpus(node.inventory, report.gpus);
  }
  for (const int node : lost_nodes(run)) {
    report.lost_nodes.push_back(run.header.nodes.at(node).name);
  }
  if (run.end) {
    report.time = run.end->time;
    if (run.end->waiting.ranks > 0) {
      report.waiting = run.end->waiting;
    }
  }
  return report;
}

// By step: sizes of one collective have the same blocks.
using ToldBlocks = std::set<std::pair<int, std::vector<std::vector<std::string>>>>;

void add_new_blocks(const PairTables& pairs, ToldBlocks& told, Report& report) {
  const std::optional<Blocks>& blocks = pairs.classes.blocks;
  if (blocks && told.insert({pairs.links.step, blocks->nodes}).second) {
    report.notes.push_back(describe_blocks(*blocks));
    report.blocks.push_back(*blocks);
  }
}

// Pairs are judged as what each node adds to its links, what nodes have in common, and what is left
// of each link; groups as what each node adds to its groups.
void expand_pairs(const Topology& topology, const DetectOptions& options, Names& names,
                  std::vector<Table>& tables, Report& report) {
  const Switches switches(topology, names.nodes);
  std::vector<Table> result;
  std::vector<PairTables> pairs;
  for (Table& table : tables) {
    if (table.role == Role::link) {
      const double least = std::log1p(min_effect(options, table.info.layer));
      pairs.push_back(derive(std::move(table), names, switches, least));
      append_new(report.notes, pairs.back().notes);
      continue;
    }
    if (table.of_groups()) {
      GroupTables groups = tables_of_groups(table, names);
      append_new(report.notes, groups.notes);
      append(result, std::move(groups.nodes));
    }
    result.push_back(std::move(table));
  }
  names.components = components_of(pairs, names, switches);
  ToldBlocks told;
  for (PairTables& of_metric : pairs) {
    add_new_blocks(of_metric, told, report);
    append(result, component_tables(of_metric, names));
    append(result, std::move(of_metric.nodes));
    result.push_back(std::move(of_metric.links));
  }
  tables = std::move(result);
}

// Adds what a baseline tells: expected spreads, tables of history, shifts of the fleet.
void compare_with_baseline(const RunData& run, const Names& names, const DetectOptions& options,
                           std::vector<Table>& tables, Evaluated& evaluated) {
  if (!options.baseline) {
    return;
  }
  const BaselineView view(*options.baseline);
  evaluated.baseline_metrics = expect_spreads(run, names, view, tables);
  std::vector<Table> history = tables_of_history(run, names, view, tables);
  evaluated.shift = fleet_shift(run, tables, history, *options.baseline, names, options);
  append(tables, std::move(history));
}

Evaluated evaluate(const RunData& run, Reduced& reduced, const DetectOptions& options,
                   Report& report) {
  Evaluated evaluated;
  evaluated.run = &run;
  std::vector<Table> tables = std::move(reduced.tables);
  compare_with_baseline(run, reduced.names, options, tables, evaluated);
  append(tables, tables_of_nodes(tables));
  expand_pairs(run.header.topology, options, reduced.names, tables, report);
  evaluated.fitted = fit_covariates(tables, reduced.covariates);
  append(tables, tables_of_jitter(tables));
  for (const Fitted& fitted : evaluated.fitted) {
    tables.push_back(fitted.beyond);
  }
  evaluated.tables = judge_all(std::move(tables), reduced.names, options);
  append(evaluated.tables, judge_all(tables_of_layers(evaluated.tables), reduced.names, options));
  test_all(evaluated.tables);
  for (const Judged& judged : evaluated.tables) {
    append_new(report.notes, judged.populations);
    if (judged.apart >= std::log1p(min_effect(options, judged.table.info.layer))) {
      evaluated.two_populations.push_back(judged.table.metric);
    }
  }
  evaluated.names = std::move(reduced.names);
  return evaluated;
}

void note_fast(Report& report) {
  for (const Finding& finding : report.findings) {
    if (finding.direction == Direction::fast) {
      report.notes.push_back(fmt::format("{} is {} in {}: see finding {}",
                                         describe(finding.subject),
                                         describe_slowdown(finding.slowdown_pct, "its peers"),
                                         to_string(finding.layer), finding.rank));
    }
  }
}

// Where a node stands out as slow in a layer, a fast one there is its counterpart, not a finding.
std::vector<Finding> unexplained(std::vector<Finding> fast, const std::vector<Finding>& slow) {
  std::erase_if(fast, [&slow](const Finding& finding) {
    return std::any_of(slow.begin(), slow.end(), [&finding](const Finding& other) {
      return other.layer == finding.layer &&
             (other.subject.kind == "node" || other.subject.kind == "device");
    });
  });
  return fast;
}

}  // namespace

double min_effect(const DetectOptions& options, Layer layer) {
  const auto given = options.min_effect.find(layer);
  return given == options.min_effect.end() ? default_min_effect(layer) : given->second;
}

Report analyze(const RunData& run, const DetectOptions& options) {
  Report report = header_of(run);
  Reduced reduced = reduce(run);
  const auto attempts = attempts_of(run, reduced.troubles, lost_nodes(run));
  append(report.notes, compare_two(reduced.tables, reduced.names, options));
  const Evaluated evaluated = evaluate(run, reduced, options, report);

  Integrity integrity = check_integrity(run, attempts);
  std::vector<Finding> findings = slow_findings(evaluated, options);
  apply_confirmation(run, findings);
  append(findings, unexplained(fast_findings(evaluated, options), findings));
  append(findings, std::move(integrity.findings));
  append(findings, absent_subjects(run, evaluated.names, reduced.troubles));
  GpusOnPci gpus = gpus_on_pci(run);
  join_missing(std::move(gpus.missing), findings);
  append(findings, device_errors(run, evaluated.names, findings));
  append(findings, port_errors(run, evaluated.names, findings));
  append(findings, evaluated.shift.findings);
  append(report.notes, evaluated.shift.notes);
  append(report.notes, tell_late_members(run, findings));
  add_readings(run, evaluated.names, options, findings);
  const std::vector<Difference> configuration = differences(with_probe_facts(run));
  add_as_evidence(configuration, run.header.nodes, findings);
  fill_next_checks(run, findings);
  report.findings = rank(std::move(findings));
  list_differences(configuration, run.header.nodes, report);
  report.metrics = summarise(evaluated.tables, options);
  tell_slow_sizes(report.metrics, report.findings);
  append(report.metrics, summarise_unjudged(run));
  report.not_measured = std::move(integrity.not_measured);
  append(report.not_measured, list_not_measured(run, attempts, configuration));
  append(report.not_measured, std::move(gpus.hidden));
  append(report.not_measured, too_few_to_compare(evaluated.tables, run.header.nodes.size()));
  append(report.not_measured, without_peers(evaluated.tables, evaluated.names));
  append(report.notes, disturbance_notes(evaluated, options));
  note_fast(report);

  std::vector<std::string> gaps = gaps_of_run(run, evaluated.baseline_metrics > 0);
  if (!evaluated.two_populations.empty()) {
    gaps.push_back(
        fmt::format("two populations in {}: whether they are two kinds of hardware or many slow "
                    "nodes cannot be "
                    "told; name cohorts, or give a baseline",
                    fmt::join(evaluated.two_populations, ", ")));
  }
  if (options.baseline && evaluated.baseline_metrics == 0) {
    gaps.push_back("the baseline has none of the metrics of this run, measured in the same way");
  }
  append(gaps, std::move(integrity.inconclusive));
  append(gaps, std::move(gpus.gaps));
  append(gaps, coverage_gaps(run, attempts));
  append(gaps, blind_layers(report.metrics, options));
  decide(run, report, std::move(gaps), options);
  return report;
}

}  // namespace fleetbench
