#include "harness/report/finding_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/report/escape.hpp"
#include "harness/report/text_layout.hpp"
#include "harness/report/units.hpp"

namespace fleetbench::report {
namespace {

constexpr std::size_t kMostNames = 8;

std::string where(const Subject& subject) {
  if (subject.kind != "group" || subject.nodes.empty()) {
    return escaped(describe(subject));
  }
  const std::size_t shown = std::min(subject.nodes.size(), kMostNames);
  const auto end = subject.nodes.begin() + static_cast<std::ptrdiff_t>(shown);
  return escaped(fmt::format("{} ({}{})", describe(subject),
                             fmt::join(subject.nodes.begin(), end, ", "),
                             subject.nodes.size() > shown ? ", …" : ""));
}

std::string how_bad(const Finding& finding) {
  if (finding.direction == Direction::wrong) {
    return finding.status == FindingStatus::tentative ? "errors are counted" : "wrong results";
  }
  if (finding.direction == Direction::missing) {
    return "missing or failing";
  }
  return describe_slowdown(finding.slowdown_pct) + " " +
         describe_interval(finding.slowdown_pct, finding.ci_low_pct, finding.ci_high_pct);
}

std::string status_of(const Finding& finding) {
  std::string text(to_string(finding.status));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

Ink ink_of(const Finding& finding) {
  if (finding.explained_by || finding.direction == Direction::fast) {
    return Ink::plain;
  }
  return finding.status == FindingStatus::confirmed ? Ink::bad : Ink::doubtful;
}

std::string headline(const Finding& finding, const TextStyle& style) {
  const std::string explained =
      finding.explained_by ? fmt::format(", explained by #{}", *finding.explained_by)
      : finding.explained_by_covariates.empty()
          ? ""
          : fmt::format(
                ", explained by its {}",
                escaped(fmt::format("{}", fmt::join(finding.explained_by_covariates, " and "))));
  return fmt::format("{:>3}  {}  {}: {}, {}{}\n", fmt::format("#{}", finding.rank),
                     inked(where(finding.subject), ink_of(finding), style),
                     to_string(finding.layer), how_bad(finding), status_of(finding), explained);
}

std::string figures(const Finding& finding) {
  std::vector<std::vector<std::string>> rows;
  for (const MetricEvidence& metric : finding.metrics) {
    rows.push_back({escaped(metric.metric), in_unit(metric.value, metric.unit),
                    (finding.subject.kind == "fleet" ? "baseline " : "peers ") +
                        in_unit(metric.median, metric.unit),
                    describe_slowdown(metric.slowdown_pct)});
  }
  return table(rows, "       ", false);
}

std::string evidence(const Finding& finding, const TextStyle& style) {
  std::string text;
  for (const Evidence& item : finding.evidence) {
    text += paragraph(
        "       - ",
        escaped(item.source.empty() ? item.text : fmt::format("{} ({})", item.text, item.source)),
        style);
  }
  return text;
}

}  // namespace

std::string finding_text(const Finding& finding, const TextStyle& style) {
  std::string text = headline(finding, style);
  if (finding.explained_by) {
    return text;
  }
  text += figures(finding) + evidence(finding, style);
  if (!finding.next_check.empty()) {
    text += paragraph("       next: ", escaped(finding.next_check), style);
  }
  return text;
}

}  // namespace fleetbench::report
