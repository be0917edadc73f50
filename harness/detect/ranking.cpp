#include "harness/detect/ranking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "harness/detect/table.hpp"

namespace fleetbench::detect {
namespace {

constexpr double kNodeGenerosity = 2;
constexpr double kLinkGenerosity = 1;

constexpr std::array<std::pair<Layer, Layer>, 10> kCauses{{{Layer::host, Layer::storage},
                                                           {Layer::host, Layer::input},
                                                           {Layer::host, Layer::copy},
                                                           {Layer::host, Layer::network},
                                                           {Layer::storage, Layer::input},
                                                           {Layer::input, Layer::step},
                                                           {Layer::copy, Layer::step},
                                                           {Layer::compute, Layer::step},
                                                           {Layer::fabric, Layer::network},
                                                           {Layer::network, Layer::step}}};

// Log slowdown of the worst metric.
double worst(const Finding& finding) {
  double pct = finding.slowdown_pct;
  for (const MetricEvidence& metric : finding.metrics) {
    pct = std::max(pct, metric.slowdown_pct);
  }
  return slowdown_of_pct(pct);
}

bool is_of_one(const Subject& subject) {
  return subject.kind == "node" || subject.kind == "device";
}

// Whether what happens to `cause` happens to `effect`: a node to its devices, a device to its node
// (whose step waits for the slowest), the fleet to itself.
bool reaches(const Subject& cause, const Subject& effect) {
  if (cause.kind == "fleet" || effect.kind == "fleet") {
    return cause.kind == effect.kind;
  }
  return is_of_one(cause) && is_of_one(effect) && cause.node == effect.node &&
         (cause.device.empty() || effect.device.empty() || cause.device == effect.device);
}

bool explains(const Finding& cause, const Finding& effect) {
  if (cause.direction != Direction::slow || cause.status == FindingStatus::not_reproduced) {
    return false;
  }
  if (reaches(cause.subject, effect.subject)) {
    const bool acquitted = effect.host_bound && cause.layer == Layer::host;
    return is_upstream(cause.layer, effect.layer) &&
           (acquitted || worst(effect) <= kNodeGenerosity * worst(cause));
  }
  if (cause.subject.kind != "node") {
    return false;
  }
  const bool at_end =
      cause.subject.node == effect.subject.a || cause.subject.node == effect.subject.b;
  return effect.subject.kind == "link" && at_end &&
         (cause.layer == effect.layer || is_upstream(cause.layer, effect.layer)) &&
         worst(effect) <= kLinkGenerosity * worst(cause);
}

// The most upstream cause, since Layer lists causes before effects; of several the slowest.
std::optional<std::size_t> cause_of(const std::vector<Finding>& findings, std::size_t effect) {
  std::optional<std::size_t> best;
  const auto before = [&findings](std::size_t a, std::size_t b) {
    return std::tuple(findings[a].layer, -worst(findings[a])) <
           std::tuple(findings[b].layer, -worst(findings[b]));
  };
  if (findings[effect].direction != Direction::slow) {
    return best;
  }
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (i != effect && explains(findings[i], findings[effect]) && (!best || before(i, *best))) {
      best = i;
    }
  }
  return best;
}

int place(const Finding& finding, bool explained) {
  switch (finding.direction) {
    case Direction::wrong:
      return finding.status == FindingStatus::tentative ? 2 : 0;
    case Direction::missing:
      return 1;
    case Direction::slow:
      if (finding.status == FindingStatus::not_reproduced) {
        return 4;
      }
      return explained || !finding.explained_by_covariates.empty() ? 3 : 2;
    case Direction::fast:
      break;
  }
  return 5;
}

}  // namespace

bool is_upstream(Layer cause, Layer effect) {
  return std::any_of(kCauses.begin(), kCauses.end(), [&](const auto& edge) {
    return edge.first == cause && (edge.second == effect || is_upstream(edge.second, effect));
  });
}

std::vector<Finding> rank(std::vector<Finding> findings) {
  std::vector<std::optional<std::size_t>> causes(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    causes[i] = cause_of(findings, i);
  }
  std::vector<std::size_t> order(findings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(place(findings[a], causes[a].has_value()), -findings[a].ci_low_pct) <
           std::tuple(place(findings[b], causes[b].has_value()), -findings[b].ci_low_pct);
  });
  std::vector<int> rank_of(findings.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    rank_of[order[k]] = static_cast<int>(k) + 1;
  }
  std::vector<Finding> ranked;
  for (const std::size_t i : order) {
    Finding& finding = findings[i];
    finding.rank = rank_of[i];
    finding.explained_by = causes[i] ? std::optional(rank_of[*causes[i]]) : std::nullopt;
    ranked.push_back(std::move(finding));
  }
  return ranked;
}

}  // namespace fleetbench::detect
