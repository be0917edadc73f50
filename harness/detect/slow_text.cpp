#include "harness/detect/slow_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fleetbench::detect {
namespace {

std::string compared(const Names& names, const Hit& hit, double pct) {
  const Table& table = hit.table();
  const std::string name = describe(subject_of(names, table, hit.subject()));
  switch (table.role) {
    case Role::sends:
      return fmt::format("what {} sends is {}", name,
                         describe_slowdown(pct, "what its peers send"));
    case Role::receives:
      return fmt::format("what {} receives is {}", name,
                         describe_slowdown(pct, "what its peers receive"));
    case Role::talks:
      return fmt::format("{} with {} is {}", table.metric, name,
                         describe_slowdown(pct, "between its peers"));
    case Role::link:
      return fmt::format(
          "{} {} is {}", table.metric, name,
          describe_slowdown(
              pct, table.fixed_reference ? "on the best pair" : "its two ends lead one to expect"));
    case Role::shared:
      return fmt::format("{} over {} is {}", table.metric, name,
                         describe_slowdown(pct, "between the others"));
    case Role::own:
      break;
  }
  return fmt::format("{} is {} than the median of its peers", table.metric,
                     pct > 0 ? "slower" : "faster");
}

std::string sentence(const Names& names, const Hit& hit) {
  const Table& table = hit.table();
  const double pct = to_pct(hit.judgement().slowdown);
  if (table.look == Look::jitter) {
    return fmt::format(
        "{} varies more from pass to pass: its slow passes (p95) are {:.1f} % over its median, its "
        "peers' {:.1f} %",
        table.metric, to_pct(hit.judgement().level), to_pct(hit.judgement().peers));
  }
  if (table.look == Look::beyond) {
    return fmt::format("{} is {:.1f} % slower than what its covariates explain", table.metric, pct);
  }
  if (table.look == Look::history) {
    return fmt::format("{} is {:.1f} % slower than in its own history", table.metric, pct);
  }
  if (table.part == Part::layer) {
    return fmt::format(
        "the metrics of {}, weighed by how steady they are, are on average {:.1f} % slower",
        table.metric, pct);
  }
  return compared(names, hit, pct);
}

}  // namespace

Evidence evidence_of(const Names& names, const Hit& hit) {
  std::string text = sentence(names, hit);
  if (hit.judgement().slowdown > 0 && has_passes(hit.table())) {
    text += fmt::format("{} in {} of {} passes", hit.table().role == Role::own ? "" : ",",
                        hit.closer.slow_passes, hit.closer.passes);
  }
  if (hit.table().of_its_devices) {
    text += " (the median of its devices)";
  }
  return {std::move(text), hit.table().step_id};
}

std::vector<Explained> covariates_of(const Evaluated& evaluated, const Hit& hit) {
  const auto fitted = std::ranges::find_if(evaluated.fitted, [&](const Fitted& one) {
    return one.beyond.metric == hit.table().metric &&
           one.beyond.of_devices() == hit.table().of_devices();
  });
  std::vector<Explained> result;
  if (fitted == evaluated.fitted.end()) {
    return result;
  }
  double together = 0;
  for (const Explanation& explanation : fitted->explanations) {
    const double effect = explanation.effects[hit.row];
    together += effect;
    if (effect > 0) {
      result.push_back(
          {explanation.covariate,
           fmt::format("its {} is {:.4g} {}, {:.4g} {} is usual: over the fleet that goes with "
                       "{:.1f} % more time",
                       explanation.covariate, explanation.values[hit.row], explanation.unit,
                       explanation.typical, explanation.unit, to_pct(effect))});
    }
  }
  if (together < hit.judgement().slowdown / 2) {
    result.clear();
  }
  return result;
}

}  // namespace fleetbench::detect
