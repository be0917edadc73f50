#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "harness/report/escape.hpp"
#include "harness/report/report.hpp"

namespace fleetbench {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Backslash, quote and newline are what the format asks to escape; other control characters and
// invalid UTF-8 would make the whole file unreadable.
std::string label_value(const std::string& text) {
  std::string result;
  for (const char character : report::escaped(text)) {
    if (character == '\\' || character == '"') {
      result += '\\';
    }
    result += character;
  }
  return result;
}

std::string number(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  return std::isinf(value) ? (value > 0 ? "+Inf" : "-Inf") : fmt::format("{:.12g}", value);
}

class Exposition {
 public:
  // Starts a family of samples. A family without samples is left out.
  void gauge(std::string name, std::string_view help) {
    name_ = "fleetbench_" + std::move(name);
    header_ = fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name_, help);
  }

  void sample(const Labels& labels, double value) {
    text_ += std::exchange(header_, "") + name_;
    std::string inside;
    for (const auto& [label, content] : labels) {
      inside += fmt::format("{}{}=\"{}\"", inside.empty() ? "" : ",", label, label_value(content));
    }
    text_ += (inside.empty() ? "" : "{" + inside + "}") + " " + number(value) + "\n";
  }

  void single(std::string name, std::string_view help, double value) {
    gauge(std::move(name), help);
    sample({}, value);
  }

  std::string text() && { return std::move(text_); }

 private:
  std::string name_;
  std::string header_;
  std::string text_;
};

void add_run(const Report& report, Exposition& out) {
  out.single("verdict", "Verdict of the last run: 0 PASS, 1 WARN, 2 FAIL, 3 INCONCLUSIVE.",
             nagios_code(report.verdict));
  out.gauge("run_info", "What the last run was; always 1.");
  out.sample({{"run_id", report.run_id},
              {"suite", report.suite},
              {"verdict", std::string(to_string(report.verdict))}},
             1);
  out.single("nodes", "Nodes of the run.", report.nodes);
  out.single("ranks", "MPI ranks of the run.", report.ranks);
  out.single("lost_nodes", "Nodes that stopped answering.",
             static_cast<double>(report.lost_nodes.size()));
  out.single("configuration_differences", "Settings in which a node differs from most nodes.",
             static_cast<double>(report.configuration.size()));
  if (report.time) {
    out.gauge("run_seconds", "Where the wall time of the run went.");
    out.sample({{"share", "preparation"}}, report.time->preparation_s);
    out.sample({{"share", "measurement"}}, report.time->measurement_s);
    out.sample({{"share", "other"}}, report.time->other_s());
  }
  if (report.waiting) {
    out.single("waiting_core_ratio", "CPU time over wall time of the worst waiting rank.",
               report.waiting->max_core_share);
    out.single("waiting_resident_bytes", "Memory of the largest waiting rank.",
               report.waiting->max_resident_bytes);
  }
}

Labels labels_of(const Finding& finding) {
  return {{"rank", std::to_string(finding.rank)},
          {"subject", describe(finding.subject)},
          {"kind", finding.subject.kind},
          {"layer", std::string(to_string(finding.layer))},
          {"direction", std::string(to_string(finding.direction))},
          {"status", std::string(to_string(finding.status))},
          {"explained", finding.explained_by ? "true" : "false"}};
}

void add_findings(const Report& report, Exposition& out) {
  std::map<Direction, int> counts{
      {Direction::slow, 0}, {Direction::fast, 0}, {Direction::wrong, 0}, {Direction::missing, 0}};
  for (const Finding& finding : report.findings) {
    ++counts[finding.direction];
  }
  out.gauge("findings", "Findings by direction, explained ones included.");
  for (const auto& [direction, count] : counts) {
    out.sample({{"direction", std::string(to_string(direction))}}, count);
  }
  out.gauge("finding_slowdown_ratio",
            "Slowdown of each finding as a share of time; 0 for wrong and missing.");
  for (const Finding& finding : report.findings) {
    out.sample(labels_of(finding), finding.slowdown_pct / 100);
  }
  // For alerts and graphs by node: the worst of a node's slow findings in a layer.
  std::map<std::pair<std::string, Layer>, double> worst;
  for (const Finding& finding : report.findings) {
    const bool stands = finding.status != FindingStatus::not_reproduced;
    if (finding.direction == Direction::slow && stands && !finding.subject.node.empty()) {
      double& slowdown = worst[{finding.subject.node, finding.layer}];
      slowdown = std::max(slowdown, finding.slowdown_pct / 100);
    }
  }
  out.gauge("node_slowdown_ratio", "Slowdown of a node in a layer, where it is a finding.");
  for (const auto& [where, slowdown] : worst) {
    out.sample({{"node", where.first}, {"layer", std::string(to_string(where.second))}}, slowdown);
  }
}

Labels labels_of(const MetricSummary& metric) {
  return {{"metric", metric.metric},
          {"unit", metric.unit},
          {"layer", std::string(to_string(metric.layer))},
          {"subject", std::string(to_string(metric.subject))}};
}

void add_metrics(const Report& report, Exposition& out) {
  out.gauge("metric_median", "Median of a metric over its subjects, in its unit.");
  for (const MetricSummary& metric : report.metrics) {
    out.sample(labels_of(metric), metric.median);
  }
  out.gauge("metric_spread_ratio", "Robust standard deviation between subjects.");
  for (const MetricSummary& metric : report.metrics) {
    if (metric.judged) {
      out.sample(labels_of(metric), metric.spread_pct / 100);
    }
  }
  out.gauge("metric_smallest_visible_ratio", "Slowdown that would have been reported.");
  for (const MetricSummary& metric : report.metrics) {
    if (metric.smallest_visible_pct) {
      out.sample(labels_of(metric), *metric.smallest_visible_pct / 100);
    }
  }
}

}  // namespace

std::string prometheus_text(const Report& report) {
  Exposition out;
  add_run(report, out);
  add_findings(report, out);
  add_metrics(report, out);
  return std::move(out).text();
}

}  // namespace fleetbench
