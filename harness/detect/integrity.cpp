#include "harness/detect/integrity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/detect/blame.hpp"

namespace fleetbench::detect {
namespace {

constexpr const char* kWrongCheck =
    "Take it out of service: a wrong result means that memory, a CPU or a link corrupts data. Look "
    "for machine checks and ECC errors (`dmesg`, `ras-mc-ctl --errors`), then run a memory test.";
constexpr const char* kFailedCheck =
    "Run this probe by itself on that node (`{gpu}{run}`) and read its message; "
    "look into the kernel log (`dmesg`) for killed processes and hardware errors.";
constexpr const char* kImportedCheck =
    "Read the log of the tool that measured it on that node, then the kernel log (`dmesg`).";
constexpr const char* kLostCheck =
    "See whether the node answers (ping, ssh, console); then its kernel log (`dmesg`, `journalctl "
    "-k`) for a crash, the OOM killer, a hung task or a link that went down.";

void add_finding(std::vector<Finding>& findings, Finding finding) {
  const auto same = std::find_if(findings.begin(), findings.end(), [&](const Finding& other) {
    return other.subject == finding.subject && other.direction == finding.direction &&
           other.layer == finding.layer;
  });
  if (same == findings.end()) {
    findings.push_back(std::move(finding));
  } else {
    same->evidence.insert(same->evidence.end(), finding.evidence.begin(), finding.evidence.end());
  }
}

Finding confirmed(Subject subject, Direction direction, Layer layer, std::string text,
                  std::string source, const char* next_check) {
  Finding finding;
  finding.subject = std::move(subject);
  finding.direction = direction;
  finding.status = FindingStatus::confirmed;
  finding.layer = layer;
  finding.p_value = 0;
  finding.evidence.push_back({std::move(text), std::move(source)});
  finding.next_check = next_check;
  return finding;
}

std::string with_reason(std::string text, const std::string& reason) {
  return reason.empty() ? std::move(text) : fmt::format("{}: {}", text, reason);
}

// Imported samples come metric by metric: a step of them has many layers, and maybe no name.
Layer layer_of(const StepAttempts& attempts, const Blame& blame) {
  for (const MetricInfo& metric : attempts.step->metrics) {
    if (!blame.metric.empty() &&
        (metric.name == blame.metric || full_name(*attempts.step, metric) == blame.metric)) {
      return metric.layer;
    }
  }
  return attempts.layer();
}

std::string what_of(const StepAttempts& attempts, const Blame& blame) {
  return attempts.step->id.empty() ? blame.metric : attempts.step->id;
}

void blame_wrong(const RunData& run, const StepAttempts& attempts, Integrity& integrity) {
  if (attempts.wrong.empty()) {
    return;
  }
  for (const Blame& blame : blame_all(run, attempts, attempts.wrong)) {
    add_finding(integrity.findings,
                confirmed(blame.subject, Direction::wrong, layer_of(attempts, blame),
                          with_reason(fmt::format("{} gave a wrong result {}",
                                                  what_of(attempts, blame), blame.how_often),
                                      blame.reason),
                          what_of(attempts, blame), kWrongCheck));
  }
}

void blame_broken(const RunData& run, const StepAttempts& attempts, Integrity& integrity) {
  if (attempts.broken.empty()) {
    return;
  }
  const std::string& id = attempts.step->id;
  if (const auto many = too_many_to_blame(attempts, attempts.broken)) {
    integrity.not_measured.push_back({id, with_reason("failed " + many->where, many->reason)});
    integrity.inconclusive.push_back(fmt::format("{} failed {}", id, many->where));
    return;
  }
  for (const Blame& blame : blame_all(run, attempts, attempts.broken)) {
    add_finding(integrity.findings,
                confirmed(blame.subject, Direction::missing, layer_of(attempts, blame),
                          with_reason(fmt::format("{} {} {}", what_of(attempts, blame),
                                                  blame.timed_out ? "timed out" : "failed",
                                                  blame.how_often),
                                      blame.reason),
                          what_of(attempts, blame), run.imported ? kImportedCheck : kFailedCheck));
  }
}

Layer layer_of_step(const RunData& run, const std::string& id) {
  for (const StepRecord& step : run.steps) {
    if (step.id == id && !step.metrics.empty()) {
      return step.metrics.front().layer;
    }
  }
  return Layer::host;
}

std::string what_was_lost(const LossRecord& loss, const std::string& node) {
  if (!loss.rank) {
    return fmt::format("{} did not take part", node);
  }
  return fmt::format("rank {} on {} stopped answering in step {}, phase {}", *loss.rank, node,
                     loss.step, loss.phase);
}

// One finding a node, however many of its ranks are gone.
void blame_lost(const RunData& run, Integrity& integrity) {
  std::map<int, Finding> by_node;
  for (const LossRecord& loss : run.losses) {
    Subject subject;
    subject.kind = "node";
    subject.node = run.header.nodes.at(loss.node).name;
    const std::string text = with_reason(what_was_lost(loss, subject.node), loss.reason);
    const auto [place, is_new] = by_node.try_emplace(loss.node);
    if (is_new) {
      place->second = confirmed(subject, Direction::missing, layer_of_step(run, loss.step), text,
                                "journal", kLostCheck);
    } else {
      place->second.evidence.push_back({text, "journal"});
    }
  }
  for (auto& [node, finding] : by_node) {
    integrity.findings.push_back(std::move(finding));
  }
}

}  // namespace

Integrity check_integrity(const RunData& run, const std::vector<StepAttempts>& attempts) {
  Integrity integrity;
  blame_lost(run, integrity);
  for (const StepAttempts& of_step : attempts) {
    blame_wrong(run, of_step, integrity);
    blame_broken(run, of_step, integrity);
  }
  return integrity;
}

}  // namespace fleetbench::detect
