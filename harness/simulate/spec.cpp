#include "harness/simulate/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results-schema/check.hpp"

namespace fleetbench::simulation {
namespace {

template <typename Enum>
Enum parse(std::string_view what, std::string_view text, const std::vector<Enum>& all) {
  std::string allowed;
  for (const Enum value : all) {
    if (text == to_string(value)) {
      return value;
    }
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", to_string(value));
  }
  throw InputError(fmt::format("{} \"{}\": say one of {}", what, text, allowed));
}

void require(bool holds, std::string_view what, auto value, std::string_view wanted) {
  if (!holds) {
    throw InputError(fmt::format("{} {}: give {}", what, value, wanted));
  }
}

bool of_devices(Fault fault) { return fault == Fault::device || fault == Fault::devices; }

}  // namespace

void check(const FleetSpec& spec) {
  require(spec.nodes >= 1, "nodes", spec.nodes, "at least 1");
  require(spec.devices >= 0, "devices", spec.devices, "0 or more a node");
  require(spec.metrics >= 1, "metrics", spec.metrics, "at least 1");
  require(spec.passes >= 1, "passes", spec.passes, "at least 1");
  require(!spec.spreads.empty(), "spreads", "", "at least one");
  for (const double spread : spec.spreads) {
    require(spread > 0 && spread <= 1, "spread", spread * 100, "over 0 to 100 %");
  }
  require(spec.noise_low > 0, "noise", spec.noise_low, "more than 0");
  require(spec.noise_high >= spec.noise_low, "noise", spec.noise_high,
          "an upper end that is not under the lower one");
  require(spec.correlation >= 0 && spec.correlation <= 1, "correlation", spec.correlation,
          "0 to 1");
  require(std::isfinite(spec.effect) && spec.effect >= 0, "effect", spec.effect * 100,
          "0 % or more");
  require(spec.faulty >= 1 && spec.faulty <= spec.nodes, "faulty", spec.faulty,
          fmt::format("1 to the number of nodes, {}", spec.nodes));
  if (of_devices(spec.fault)) {
    require(spec.devices > 0 && spec.metrics > 1, "fault", to_string(spec.fault),
            "devices and at least 2 metrics too, for only devices can have it");
  }
}

std::string_view to_string(Tails tails) {
  switch (tails) {
    case Tails::normal:
      return "normal";
    case Tails::t4:
      return "t4";
    case Tails::bimodal:
      return "bimodal";
  }
  return "";
}

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::none:
      return "none";
    case Fault::layer:
      return "layer";
    case Fault::metric:
      return "metric";
    case Fault::device:
      return "device";
    case Fault::devices:
      return "devices";
    case Fault::fleet:
      return "fleet";
    case Fault::wrong:
      return "wrong";
    case Fault::failed:
      return "failed";
    case Fault::missing:
      return "missing";
    case Fault::unseen:
      return "unseen";
  }
  return "";
}

std::string_view to_string(Nuisance nuisance) {
  switch (nuisance) {
    case Nuisance::none:
      return "none";
    case Nuisance::one_pass:
      return "one-pass";
    case Nuisance::drift:
      return "drift";
    case Nuisance::labelled:
      return "labelled";
    case Nuisance::generations:
      return "generations";
    case Nuisance::coarse:
      return "coarse";
    case Nuisance::noisy:
      return "noisy";
  }
  return "";
}

Tails parse_tails(std::string_view text) { return parse("tails", text, all_tails()); }
Fault parse_fault(std::string_view text) { return parse("fault", text, all_faults()); }
Nuisance parse_nuisance(std::string_view text) { return parse("nuisance", text, all_nuisances()); }

const std::vector<Tails>& all_tails() {
  static const std::vector<Tails> all{Tails::normal, Tails::t4, Tails::bimodal};
  return all;
}

const std::vector<Fault>& all_faults() {
  static const std::vector<Fault> all{Fault::none,    Fault::layer, Fault::metric, Fault::device,
                                      Fault::devices, Fault::fleet, Fault::wrong,  Fault::failed,
                                      Fault::missing, Fault::unseen};
  return all;
}

const std::vector<Nuisance>& all_nuisances() {
  static const std::vector<Nuisance> all{
      Nuisance::none,        Nuisance::one_pass, Nuisance::drift, Nuisance::labelled,
      Nuisance::generations, Nuisance::coarse,   Nuisance::noisy};
  return all;
}

}  // namespace fleetbench::simulation
