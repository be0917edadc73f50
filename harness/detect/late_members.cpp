#include "harness/detect/late_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "harness/detect/robust.hpp"
#include "results-schema/collective_rule.hpp"
#include "results-schema/json_at.hpp"
#include "results-schema/together.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kShareOfTransfer = 0.1;
constexpr double kSigmas = 5;
constexpr int kFewestCalls = 5;
constexpr double kMostlyLate = 0.8;
constexpr std::size_t kFewestMembers = 3;  // of two, nobody is in the middle

bool synchronises(const MetricInfo& metric) {
  const CollectiveRule* rule = find_collective_rule(metric.name.substr(0, metric.name.find('.')));
  return rule != nullptr && rule->waits_for_all;
}

// One member's stamps of one call, on the clock of the first member.
struct Stamp {
  const SampleRecord* sample = nullptr;
  double enter_s = 0;
  double leave_s = 0;
  double uncertainty_s = 0;
};

std::optional<double> item(const Json& detail, const char* key, std::size_t index) {
  const Json& list = at(detail, key);
  return list.is_array() && index < list.size() && list[index].is_number()
             ? std::optional(list[index].get<double>())
             : std::nullopt;
}

std::optional<Stamp> stamp_of(const SampleRecord& sample, std::size_t metric) {
  const auto enter = item(sample.detail, "enter_s", metric);
  const auto leave = item(sample.detail, "leave_s", metric);
  const auto uncertainty = number_at(sample.detail, "clock_uncertainty_s");
  if (!enter || !leave || !uncertainty) {
    return std::nullopt;
  }
  return Stamp{&sample, *enter, *leave, *uncertainty};
}

double median_of(const std::vector<Stamp>& stamps, double Stamp::*part) {
  std::vector<double> values;
  for (const Stamp& stamp : stamps) {
    values.push_back(stamp.*part);
  }
  return median(std::move(values));
}

// What a member's calls have shown so far.
struct Tally {
  int late = 0;
  std::vector<double> lateness_s;
  std::vector<double> uncertainty_s;
};

using Member = std::tuple<int, int, std::string>;  // step, node, device
using Tallies = std::map<Member, Tally>;

void add_call(const std::vector<Stamp>& stamps, Tallies& tallies) {
  if (stamps.size() < kFewestMembers) {
    return;
  }
  const double middle_s = median_of(stamps, &Stamp::enter_s);
  const double uncertainty_s = median_of(stamps, &Stamp::uncertainty_s);
  const double last_s = std::ranges::max(stamps, {}, &Stamp::enter_s).enter_s;
  const double transfer_s = std::max(0.0, median_of(stamps, &Stamp::leave_s) - last_s);
  std::vector<double> entries_s;
  for (const Stamp& stamp : stamps) {
    entries_s.push_back(stamp.enter_s);
  }
  const double usual_s = kSigmas * mad_factor(stamps.size()) * deviation(entries_s, middle_s);
  for (const Stamp& stamp : stamps) {
    const double lateness_s = stamp.enter_s - middle_s;
    const double unsure_s = stamp.uncertainty_s + uncertainty_s;
    Tally& tally = tallies[{stamp.sample->step, stamp.sample->node, stamp.sample->device}];
    tally.late += lateness_s > std::max({unsure_s, kShareOfTransfer * transfer_s, usual_s}) ? 1 : 0;
    tally.lateness_s.push_back(lateness_s);
    tally.uncertainty_s.push_back(unsure_s);
  }
}

// Samples of those who made their calls together, on one clock: by step and slot.
using Calls = std::map<std::tuple<int, int, Together>, std::vector<const SampleRecord*>>;

Calls calls_of(const RunData& run) {
  Calls calls;
  for (const SampleRecord& sample : run.samples) {
    if (sample.status == Status::ok && !sample.confirms && sample.detail.contains("enter_s")) {
      const StepRecord& step = run.steps.at(static_cast<std::size_t>(sample.step));
      calls[{sample.step, sample.slot, together_of(step, sample)}].push_back(&sample);
    }
  }
  return calls;
}

std::string seconds_text(double seconds) {
  return seconds < 0.9995e-3 ? fmt::format("{:.0f} µs", seconds * 1e6)
                             : fmt::format("{:.1f} ms", seconds * 1e3);
}

std::string late_text(const RunData& run, const LateMember& member) {
  return fmt::format(
      "{}{} enters collectives {} after the others ({}, {} of {} calls; clocks agree within {}): "
      "they wait for it, whatever the network does",
      run.header.nodes.at(member.node).name, member.device.empty() ? "" : " " + member.device,
      seconds_text(member.lateness_s), run.steps.at(member.step).id, member.late, member.calls,
      seconds_text(member.uncertainty_s));
}

bool is_about(const RunData& run, const Finding& finding, const LateMember& member) {
  const std::string& name = run.header.nodes.at(member.node).name;
  return finding.layer == Layer::network && finding.direction == Direction::slow &&
         finding.subject.node == name &&
         (finding.subject.device.empty() || finding.subject.device == member.device);
}

bool rests_on(const RunData& run, const Finding& finding, int step) {
  return std::ranges::any_of(finding.metrics, [&](const MetricEvidence& metric) {
    return metric.metric.starts_with(run.steps.at(step).id + ".");
  });
}

void tell_punctual(const RunData& run, const LateMember& member, Finding& finding) {
  finding.evidence.push_back(
      {fmt::format("enters collectives with the others (within {}, {} calls): it is not late, "
                   "transfers with it are slow",
                   seconds_text(std::max(std::abs(member.lateness_s), member.uncertainty_s)),
                   member.calls),
       run.steps.at(member.step).id});
}

}  // namespace

bool LateMember::is_late() const { return calls >= kFewestCalls && late >= kMostlyLate * calls; }

std::vector<LateMember> members_of_collectives(const RunData& run) {
  Tallies tallies;
  for (const auto& [together, samples] : calls_of(run)) {
    const StepRecord& step = run.steps.at(static_cast<std::size_t>(std::get<0>(together)));
    for (std::size_t metric = 0; metric < step.metrics.size(); ++metric) {
      std::vector<Stamp> stamps;
      for (const SampleRecord* sample : samples) {
        if (const auto stamp = stamp_of(*sample, metric);
            stamp && synchronises(step.metrics[metric])) {
          stamps.push_back(*stamp);
        }
      }
      add_call(stamps, tallies);
    }
  }
  std::vector<LateMember> members;
  for (auto& [member, tally] : tallies) {
    const auto& [step, node, device] = member;
    members.push_back({step, node, device, tally.late, static_cast<int>(tally.lateness_s.size()),
                       median(std::move(tally.lateness_s)),
                       median(std::move(tally.uncertainty_s))});
  }
  return members;
}

std::vector<std::string> tell_late_members(const RunData& run, std::vector<Finding>& findings) {
  std::vector<std::string> notes;
  for (const LateMember& member : members_of_collectives(run)) {
    bool told = false;
    for (Finding& finding : findings) {
      if (!is_about(run, finding, member)) {
        continue;
      }
      if (member.is_late()) {
        const std::string text = late_text(run, member);
        finding.cause = finding.cause.empty() ? "enters collectives late" : finding.cause;
        finding.evidence.push_back({text, run.steps.at(member.step).id});
        told = true;
      } else if (member.late == 0 && rests_on(run, finding, member.step)) {
        tell_punctual(run, member, finding);
      }
    }
    if (member.is_late() && !told) {
      notes.push_back(late_text(run, member));
    }
  }
  return notes;
}

}  // namespace fleetbench::detect
