#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/report/escape.hpp"
#include "harness/report/finding_text.hpp"
#include "harness/report/report.hpp"
#include "harness/report/text_layout.hpp"
#include "harness/report/units.hpp"

namespace fleetbench {
namespace {

using namespace report;

constexpr std::size_t kMostReasons = 5;
constexpr std::size_t kMostFindings = 20;
constexpr std::size_t kMostNames = 8;   // of what was not measured for one reason
constexpr std::size_t kMostLines = 20;  // of one section of remarks

Ink ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return Ink::good;
    case Verdict::warn:
      return Ink::doubtful;
    case Verdict::fail:
      return Ink::bad;
    case Verdict::inconclusive:
      break;
  }
  return Ink::unknown;
}

std::string count_of(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string more(std::size_t all, std::size_t shown, std::string_view indent) {
  return all > shown ? fmt::format("{}… and {} more in report.json\n", indent, all - shown) : "";
}

std::string heading(std::string_view text, const TextStyle& style) {
  return "\n" + inked(text, Ink::bold, style) + "\n";
}

std::string verdict_lines(const Report& report, const TextStyle& style) {
  const std::string word(to_string(report.verdict));
  const std::string mark = word + "  ";
  std::string text;
  const std::size_t shown = std::min(report.verdict_reasons.size(), kMostReasons);
  for (std::size_t i = 0; i < shown; ++i) {
    text += paragraph(i == 0 ? mark : std::string(mark.size(), ' '),
                      escaped(report.verdict_reasons[i]), style);
  }
  if (text.empty()) {
    text = word + "\n";
  }
  text.replace(0, word.size(), inked(word, ink_of(report.verdict), style));
  return text + more(report.verdict_reasons.size(), shown, std::string(mark.size(), ' '));
}

std::string fleet_lines(const Report& report, const TextStyle& style) {
  std::string text;
  for (const std::string* name : {&report.suite, &report.run_id}) {
    text += name->empty() ? "" : escaped(*name) + " ";
  }
  text += "on " + count_of(static_cast<std::size_t>(report.nodes), "node", "nodes");
  if (report.ranks > 0) {  // another tool's samples know of none
    text += ", " + count_of(static_cast<std::size_t>(report.ranks), "rank", "ranks");
  }
  for (const auto& [model, count] : report.gpus) {
    text += fmt::format(", {} x {}", count, escaped(model));
  }
  if (!report.lost_nodes.empty()) {
    text += ", lost on the way: " + escaped(fmt::format("{}", fmt::join(report.lost_nodes, ", ")));
  }
  return paragraph("", text, style);
}

std::string findings_section(const Report& report, const TextStyle& style) {
  if (report.findings.empty()) {
    return "";
  }
  std::string text = heading("Findings", style);
  const std::size_t shown = std::min(report.findings.size(), kMostFindings);
  for (std::size_t i = 0; i < shown; ++i) {
    text += finding_text(report.findings[i], style);
  }
  return text + more(report.findings.size(), shown, "  ");
}

std::string remarks(std::string_view title, const std::vector<std::string>& lines,
                    const TextStyle& style) {
  if (lines.empty()) {
    return "";
  }
  std::string text = heading(title, style);
  const std::size_t shown = std::min(lines.size(), kMostLines);
  for (std::size_t i = 0; i < shown; ++i) {
    text += paragraph("  ", escaped(lines[i]), style);
  }
  return text + more(lines.size(), shown, "  ");
}

std::vector<std::string> values_of(const MetricSummary& metric) {
  return {escaped(metric.metric),
          std::string(to_string(metric.layer)),
          count_of(static_cast<std::size_t>(metric.subjects), to_string(metric.subject),
                   std::string(to_string(metric.subject)) + "s"),
          in_unit(metric.median, metric.unit),
          in_unit(metric.lowest, metric.unit),
          in_unit(metric.highest, metric.unit)};
}

std::vector<std::string> row_of(const MetricSummary& metric) {
  auto row = values_of(metric);
  row.push_back(in_per_cent(metric.spread_pct));
  row.push_back(in_per_cent(metric.within_pct));
  row.push_back(metric.smallest_visible_pct ? in_per_cent(*metric.smallest_visible_pct) : "-");
  return row;
}

std::string metrics_section(const Report& report, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows{
      {"metric", "layer", "of", "median", "lowest", "highest", "spread", "noise", "seen from"}};
  for (const MetricSummary& metric : report.metrics) {
    if (metric.judged) {
      rows.push_back(row_of(metric));
    }
  }
  if (rows.size() == 1) {
    return "";
  }
  return heading("Measured", style) + table(rows, "  ", true) +
         paragraph("  ",
                   "spread: between subjects; noise: from pass to pass; seen from: the smallest "
                   "slowdown that would have been reported",
                   style);
}

std::string explaining_section(const Report& report, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows{
      {"metric", "layer", "of", "median", "lowest", "highest"}};
  for (const MetricSummary& metric : report.metrics) {
    if (!metric.judged) {
      rows.push_back(values_of(metric));
    }
  }
  return rows.size() == 1 ? "" : heading("What explains it", style) + table(rows, "  ", true);
}

std::string cost_lines(const Report& report, const TextStyle& style) {
  std::string text;
  if (report.time && report.time->wall_s > 0) {
    const TimeShares& time = *report.time;
    text += paragraph(
        "",
        fmt::format("Took {:.1f} s: {:.0f} % preparation, {:.0f} % measurement, "
                    "{:.0f} % other.",
                    time.wall_s, 100 * time.preparation_s / time.wall_s,
                    100 * time.measurement_s / time.wall_s, 100 * time.other_s() / time.wall_s),
        style);
  }
  if (report.waiting) {
    text += paragraph("",
                      fmt::format("A waiting rank used at most {:.2g} % of a core and {}.",
                                  100 * report.waiting->max_core_share,
                                  in_unit(report.waiting->max_resident_bytes, "B")),
                      style);
  }
  return text.empty() ? "" : "\n" + text;
}

// What has one reason is one line.
std::vector<std::string> not_measured_lines(const Report& report) {
  std::map<std::string, std::vector<std::string>> of_reason;
  std::vector<std::string> reasons;  // in their order
  for (const NotMeasured& item : report.not_measured) {
    auto& what = of_reason[item.reason];
    if (what.empty()) {
      reasons.push_back(item.reason);
    }
    what.push_back(item.what);
  }
  std::vector<std::string> lines;
  for (const std::string& reason : reasons) {
    auto& what = of_reason[reason];
    const std::size_t more = what.size() - std::min(what.size(), kMostNames);
    what.resize(what.size() - more);
    lines.push_back(fmt::format("{}{}: {}", fmt::join(what, ", "),
                                more == 0 ? "" : fmt::format(" and {} more", more), reason));
  }
  return lines;
}

}  // namespace

std::string summary_text(const Report& report, const TextStyle& style) {
  std::vector<std::string> configuration;
  for (const Evidence& item : report.configuration) {
    configuration.push_back(item.text);
  }
  return verdict_lines(report, style) + fleet_lines(report, style) +
         findings_section(report, style) + remarks("Set up differently", configuration, style) +
         metrics_section(report, style) + explaining_section(report, style) +
         remarks("Not measured", not_measured_lines(report), style) +
         remarks("Notes", report.notes, style) + cost_lines(report, style);
}

}  // namespace fleetbench
