#include "harness/detect/confirm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "harness/detect/again.hpp"
#include "harness/detect/robust.hpp"
#include "harness/detect/signed_rank.hpp"

namespace fleetbench {
namespace {

using namespace detect;

constexpr double kMostByChance = 0.01;
constexpr double kShareReproduced = 0.5;
// In per cent. No healthy cohort spreads like that: whoever is as slow is slow, also among three or
// four nodes, and also where a disturbance made the first estimate far worse.
constexpr double kNeverHealthy_pct = 15;
constexpr std::size_t kFewestNodes = 5;
constexpr const char* kCongestion = "congestion: slow only while others measure";
constexpr const char* kCountersSource = "error counters";
// Kinds of rises in a sample's evidence that are no errors.
const std::set<std::string> kNoErrors{"context_switches", "cpu_quota_throttles"};

bool in_main_passes(const SampleRecord& sample) { return !sample.confirms; }

// What came back of one comparison. On the log scale, positive is slow.
struct Pairs {
  Figure figure;
  Target suspect;
  Target reference;
  std::size_t planned = 0;
  std::vector<double> differences;  // the suspect's level less its reference's
  std::vector<double> of_suspect;
  std::vector<double> of_reference;
};

Pairs pairs_of(const RunData& run, const Again& again, const Figure& figure,
               const Target& suspect) {
  Pairs pairs{.figure = figure,
              .suspect = suspect,
              .reference = {again.compared->reference, again.compared->reference_peer,
                            suspect.device, suspect.directed},
              .planned = static_cast<std::size_t>(again.record->pairs)};
  for (int pair = 0; pair < again.record->pairs; ++pair) {
    const auto of_pair = [&](const SampleRecord& sample) {
      return sample.confirms == again.record->confirm && sample.pass == pair;
    };
    const auto own = level_of(run, figure, suspect, of_pair);
    const auto other = level_of(run, figure, pairs.reference, of_pair);
    if (own && other) {
      pairs.differences.push_back(*own - *other);
      pairs.of_suspect.push_back(*own);
      pairs.of_reference.push_back(*other);
    }
  }
  return pairs;
}

enum class Outcome {
  too_few,     // pairs, for any difference to be significant
  reproduced,  // surely slower, and by enough
  unsure,      // slower by enough, but not in enough pairs
  hidden,      // no longer slower than its reference, which had become as slow itself
  gone
};

// The suspect is as slow as it was, and the reference has become so.
bool reference_slowed(const RunData& run, const Pairs& pairs, double bound) {
  const auto own = level_of(run, pairs.figure, pairs.suspect, in_main_passes);
  const auto other = level_of(run, pairs.figure, pairs.reference, in_main_passes);
  return own && other && *own - median(pairs.of_suspect) < bound &&
         median(pairs.of_reference) - *other >= bound;
}

// `first`: the slowdown as it was estimated from the passes.
Outcome outcome_of(const RunData& run, const Pairs& pairs, double first) {
  if (std::pow(0.5, pairs.differences.size()) > kMostByChance) {
    return Outcome::too_few;
  }
  const double enough = std::min(kShareReproduced * first, slowdown_of_pct(kNeverHealthy_pct));
  if (median(pairs.differences) < enough) {
    return reference_slowed(run, pairs, kShareReproduced * first) ? Outcome::hidden : Outcome::gone;
  }
  return signed_rank_p(pairs.differences) <= kMostByChance ? Outcome::reproduced : Outcome::unsure;
}

std::string by_how_much(double slowdown_pct) {
  return slowdown_pct < 100 ? fmt::format("{:+.1f} %", slowdown_pct)
                            : describe_slowdown(slowdown_pct);
}

std::string seen_in(const Pairs& pairs, Outcome outcome) {
  const std::size_t count = pairs.differences.size();
  if (outcome == Outcome::too_few) {
    return fmt::format("only {} of {} pairs came back, too few to tell", count, pairs.planned);
  }
  const auto slower = std::ranges::count_if(pairs.differences, [](double d) { return d > 0; });
  return fmt::format("slower in {} of {} pairs, {} in the median{}", slower, count,
                     by_how_much(to_pct(median(pairs.differences))),
                     outcome == Outcome::hidden ? "; but that one had become as slow itself" : "");
}

Subject subject_of(const RunData& run, const Target& target, Subject like) {
  const std::string& name = run.header.nodes.at(target.node).name;
  if (target.peer) {
    like.a = name;
    like.b = run.header.nodes.at(*target.peer).name;
  } else {
    like.node = name;
  }
  return like;
}

std::size_t nodes_in(const RunData& run, int step) {
  std::set<int> nodes;
  for (const SampleRecord& sample : run.samples) {
    if (sample.step == step && in_main_passes(sample)) {
      nodes.insert(sample.node);
    }
  }
  return nodes.size();
}

std::map<std::string, double> errors_of(const RunData& run, int step, int node) {
  const Json::json_pointer rises("/evidence/rises");
  std::map<std::string, double> errors;
  for (const SampleRecord& sample : run.samples) {
    if (sample.step != step || sample.node != node || !sample.detail.contains(rises) ||
        !sample.detail.at(rises).is_object()) {
      continue;
    }
    for (const auto& [kind, rise] : sample.detail.at(rises).items()) {
      if (rise.is_number() && !kNoErrors.contains(kind)) {
        errors[kind] += rise.get<double>();
      }
    }
  }
  return errors;
}

// More than twice as many as on the reference, which was measured as often.
void add_counters(const RunData& run, const Again& again, Finding& finding) {
  const auto own = errors_of(run, again.record->step, again.compared->node);
  auto other = errors_of(run, again.record->step, again.compared->reference);
  for (const auto& [kind, count] : own) {
    if (count > 2 * other[kind]) {
      finding.evidence.push_back(
          {fmt::format(
               "not reproduced, but {} of {} rose by {:.0f} meanwhile, those of {} by {:.0f}", kind,
               run.header.nodes.at(again.compared->node).name, count,
               run.header.nodes.at(again.compared->reference).name, other[kind]),
           kCountersSource});
    }
  }
}

void decide(const RunData& run, const Again& again, const Pairs& pairs, Finding& finding) {
  const Outcome outcome = outcome_of(run, pairs, slowdown_of_pct(again.first_pct));
  std::string text = fmt::format("{} measured again beside {}: {}", again.compared->metric,
                                 describe(subject_of(run, pairs.reference, finding.subject)),
                                 seen_in(pairs, outcome));
  if (outcome == Outcome::reproduced) {
    const bool few = nodes_in(run, pairs.figure.step) < kFewestNodes;
    if (few && finding.ci_low_pct < kNeverHealthy_pct) {
      text += fmt::format("; among fewer than {} nodes it takes {} % to be sure", kFewestNodes,
                          kNeverHealthy_pct);
    } else {
      finding.status = FindingStatus::confirmed;
    }
  }
  finding.evidence.push_back({std::move(text), run.steps.at(pairs.figure.step).id});
  if (outcome == Outcome::gone) {
    finding.status = FindingStatus::not_reproduced;
    add_counters(run, again, finding);
  }
}

std::string meaning_of_solo(Outcome outcome) {
  switch (outcome) {
    case Outcome::reproduced:
      return ": slow by itself, so not for congestion";
    case Outcome::gone:
      return ": slow only while others measure";
    default:
      return "";
  }
}

void tell_solo(const RunData& run, const Target& suspect, Finding& finding) {
  const auto solo = find_solo(run, finding, suspect);
  if (!solo || solo->record->pairs == 0) {
    return;
  }
  const auto figure = figure_named(run, solo->compared->metric, finding.subject.kind);
  if (!figure) {
    return;
  }
  const Pairs pairs = pairs_of(run, *solo, *figure, suspect);
  const Outcome outcome = outcome_of(run, pairs, slowdown_of_pct(solo->first_pct));
  finding.evidence.push_back(
      {fmt::format("{} with the fleet quiet, beside {}: {}{}", solo->compared->metric,
                   describe(subject_of(run, pairs.reference, finding.subject)),
                   seen_in(pairs, outcome), meaning_of_solo(outcome)),
       run.steps.at(figure->step).id});
  if (outcome == Outcome::gone) {
    finding.cause = kCongestion;
  }
}

}  // namespace

void apply_confirmation(const RunData& run, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    const auto suspect = target_of(run, finding.subject);
    if (finding.direction != Direction::slow || !suspect) {
      continue;
    }
    const auto again = find_again(run, finding, *suspect);
    if (!again) {
      continue;
    }
    if (again->record->pairs == 0) {
      finding.evidence.push_back({"not measured again: " + again->record->reason, "journal"});
      continue;
    }
    if (const auto figure = figure_named(run, again->compared->metric, finding.subject.kind)) {
      decide(run, *again, pairs_of(run, *again, *figure, *suspect), finding);
      tell_solo(run, *suspect, finding);
    }
  }
}

bool counters_rose(const Finding& finding) {
  return std::ranges::any_of(finding.evidence, [](const Evidence& evidence) {
    return evidence.source == kCountersSource;
  });
}

int occasion_of(const SampleRecord& sample) {
  constexpr int kPassesAtMost = 1'000'000;  // far more than --passes takes
  return sample.confirms ? (1 + *sample.confirms) * kPassesAtMost + sample.pass : sample.pass;
}

}  // namespace fleetbench
