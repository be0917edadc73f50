#include <fmt/format.h>

#include <algorithm>

#include "harness/detect/attempts.hpp"
#include "harness/detect/configuration.hpp"
#include "harness/detect/confirm.hpp"
#include "harness/detect/coverage.hpp"
#include "harness/detect/detect.hpp"
#include "harness/detect/integrity.hpp"
#include "harness/detect/judge.hpp"
#include "harness/detect/pair_tables.hpp"
#include "harness/detect/ranking.hpp"
#include "harness/detect/reduce.hpp"
#include "harness/detect/significance.hpp"
#include "harness/detect/slow.hpp"
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

Report header_of(const RunData& run) {
  Report report;
  report.run_id = run.header.run_id;
  report.suite = run.header.suite;
  report.nodes = static_cast<int>(run.header.nodes.size());
  for (const NodeInfo& node : run.header.nodes) {
    report.ranks += static_cast<int>(node.ranks.size());
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

std::vector<Judged> judge_all(std::vector<Table> tables, const std::vector<std::string>& names,
                              std::vector<std::string>& notes) {
  std::vector<Judged> judged;
  for (Table& table : tables) {
    if (table.role != Role::link) {
      judged.push_back(judge(std::move(table)));
      continue;
    }
    PairTables pairs = derive(std::move(table), names);
    append_new(notes, pairs.notes);
    judged.push_back(judge(std::move(pairs.links)));
    for (Table& of_nodes : pairs.nodes) {
      judged.push_back(judge(std::move(of_nodes)));
    }
  }
  test_all(judged);
  return judged;
}

std::vector<std::string> names_of(const RunData& run) {
  std::vector<std::string> names;
  for (const NodeInfo& node : run.header.nodes) {
    names.push_back(node.name);
  }
  return names;
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
      return other.layer == finding.layer && other.subject.kind == "node";
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
  append(report.notes, compare_two(reduced.tables, options));
  const std::vector<Judged> judged =
      judge_all(std::move(reduced.tables), names_of(run), report.notes);

  Integrity integrity = check_integrity(run, attempts);
  std::vector<Finding> findings = slow_findings(judged, options);
  apply_confirmation(run, findings);
  append(findings, unexplained(fast_findings(judged, options), findings));
  append(findings, std::move(integrity.findings));
  const std::vector<Difference> configuration = differences(with_probe_facts(run));
  add_as_evidence(configuration, run.header.nodes, findings);
  report.findings = rank(std::move(findings));
  for (const Difference& difference : configuration) {
    report.configuration.push_back(
        {run.header.nodes[difference.node].name + ": " + difference.text, "inventory"});
  }
  report.metrics = summarise(judged, options);
  append(report.metrics, summarise_unjudged(run));
  report.not_measured = std::move(integrity.not_measured);
  append(report.not_measured, list_not_measured(run, attempts));
  append(report.not_measured, too_few_to_compare(judged, run.header.nodes.size()));
  append(report.notes, disturbance_notes(judged, options));
  note_fast(report);

  std::vector<std::string> gaps = gaps_of_run(run);
  append(gaps, std::move(integrity.inconclusive));
  append(gaps, coverage_gaps(run, attempts));
  append(gaps, blind_layers(report.metrics, options));
  decide(report, std::move(gaps), options);
  return report;
}

}  // namespace fleetbench
