// Findings as text, to compare those of two reports.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "results-schema/report.hpp"

namespace fleetbench {

inline bool is_sure(const Finding& finding) {
  return finding.status == FindingStatus::suspect || finding.status == FindingStatus::confirmed;
}

inline bool is_slow(const Finding& finding) { return finding.direction == Direction::slow; }

// The two ends of a link without direction in the order of their names.
inline Subject with_sorted_ends(Subject subject) {
  if (!subject.directed && subject.b < subject.a) {
    std::swap(subject.a, subject.b);
  }
  std::ranges::sort(subject.nodes);
  return subject;
}

// "node2 slow host"
inline std::string claim_of(const Finding& finding) {
  const Subject subject = with_sorted_ends(finding.subject);
  return fmt::format("{} {} {} {}", subject.kind, describe(subject), to_string(finding.direction),
                     to_string(finding.layer));
}

// Also how sure it is, how slow to nine digits, and what explains it. Ranks are left out: equal
// findings may change places.
inline std::string line_of(const Finding& finding) {
  return fmt::format("{} {} {:.9f} {}", claim_of(finding), to_string(finding.status),
                     finding.slowdown_pct / 100, fmt::join(finding.explained_by_covariates, " "));
}

template <typename Text>
std::vector<std::string> sorted_texts(const Report& report, Text text) {
  std::vector<std::string> texts;
  std::ranges::transform(report.findings, std::back_inserter(texts), text);
  std::ranges::sort(texts);
  return texts;
}

inline std::vector<std::string> lines_of(const Report& report) {
  return sorted_texts(report, line_of);
}
inline std::vector<std::string> claims_of(const Report& report) {
  return sorted_texts(report, claim_of);
}

// "node3 host" for each that is called slow, and not only tentatively.
inline std::vector<std::string> accused(const Report& report) {
  std::vector<std::string> result;
  for (const Finding& finding : report.findings) {
    if (is_slow(finding) && is_sure(finding)) {
      result.push_back(describe(finding.subject) + " " + std::string(to_string(finding.layer)));
    }
  }
  return result;
}

}  // namespace fleetbench
