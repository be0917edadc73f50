#include "harness/simulate/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/simulate/faults.hpp"
#include "harness/simulate/random.hpp"

namespace fleetbench::simulation {
namespace {

struct Place {
  Layer layer;
  bool of_devices;
};

std::vector<Place> places(const FleetSpec& spec) {
  if (spec.devices > 0) {
    return {
        {Layer::compute, true}, {Layer::host, false}, {Layer::copy, true}, {Layer::storage, false}};
  }
  return {{Layer::host, false},
          {Layer::storage, false},
          {Layer::input, false},
          {Layer::compute, false}};
}

// The metrics evenly over the layers.
std::vector<Group> groups_of(const FleetSpec& spec) {
  std::vector<Group> groups;
  const auto layers = places(spec);
  const std::size_t used = std::min(layers.size(), static_cast<std::size_t>(spec.metrics));
  std::size_t first = 0;
  for (std::size_t g = 0; g < used; ++g) {
    const std::size_t count = (static_cast<std::size_t>(spec.metrics) + used - 1 - g) / used;
    groups.push_back({layers[g].layer, layers[g].of_devices, first, count});
    first += count;
  }
  return groups;
}

constexpr double kHalfway = 0.5;
// Second modes are this much slower: a turbo step, a page on the far memory, a cold cache.
constexpr double kModeLow = 0.03;
constexpr double kModeHigh = 0.3;
constexpr double kModeShare = 0.02;
constexpr double kNoisy = 0.33;
constexpr double kOlderShare = 0.3;
constexpr double kOlderSlower = 0.15;
constexpr double kCoarseTimes = 4;  // the standard deviation of a single value
constexpr double kDriftHigh = 0.2;  // over all passes
constexpr double kDisturbedLow = 0.3;
constexpr double kDisturbedHigh = 1;

class Simulation {
 public:
  Simulation(const FleetSpec& spec, std::uint64_t seed) : random_(seed) {
    fleet_.spec = spec;
    fleet_.seed = seed;
    fleet_.groups = groups_of(spec);
  }

  Fleet run() {
    for (const Group& group : fleet_.groups) {
      for (std::size_t i = 0; i < group.count; ++i) {
        fleet_.metrics.push_back(metric(group, i));
        modes_.push_back(random_.log_uniform(kModeLow, kModeHigh));
      }
    }
    make_one_noisy();
    fleet_.resolutions.assign(fleet_.metrics.size(), 0);
    for (const Group& group : fleet_.groups) {
      add_levels(group);
    }
    add_generations();
    add_faults(fleet_, random_);
    disturb_one_pass();
    measure();
    return std::move(fleet_);
  }

 private:
  bool is(Nuisance nuisance) const { return fleet_.spec.nuisance == nuisance; }

  Metric metric(const Group& group, std::size_t position) {
    const FleetSpec& spec = fleet_.spec;
    Metric made;
    const bool rate = random_.chance(kHalfway);
    made.info.name = fmt::format("{}{}", rate ? "rate" : "time", position);
    made.info.unit = rate ? "B/s" : "s";
    made.info.better = rate ? Better::higher : Better::lower;
    made.info.layer = group.layer;
    made.info.subject = group.of_devices ? SubjectKind::device : SubjectKind::node;
    made.info.description = "simulated";
    made.info.next_check = "Nothing: it is simulated.";
    made.typical = rate ? random_.log_uniform(1e8, 1e12) : random_.log_uniform(1e-5, 10);
    made.between = random_.one_of(spec.spreads);
    made.within = made.between * random_.log_uniform(spec.noise_low, spec.noise_high);
    return made;
  }

  void make_one_noisy() {
    if (is(Nuisance::noisy)) {
      fleet_.metrics[random_.below(fleet_.spec.metrics)].within = kNoisy;
    }
  }

  void add_levels(const Group& group) {
    const auto subjects = static_cast<std::size_t>(fleet_.subjects(group));
    const double shared = std::sqrt(fleet_.spec.correlation);
    const double own = std::sqrt(1 - fleet_.spec.correlation);
    std::vector<double> common(subjects, 0);
    if (shared > 0) {
      std::ranges::generate(common, [this] { return random_.deviate(fleet_.spec.tails); });
    }
    for (std::size_t m = group.first; m < group.first + group.count; ++m) {
      std::vector<double> levels(subjects);
      for (std::size_t i = 0; i < subjects; ++i) {
        levels[i] = fleet_.metrics[m].between *
                    (shared * common[i] + own * random_.deviate(fleet_.spec.tails));
      }
      fleet_.levels.push_back(std::move(levels));
    }
  }

  void add_generations() {
    if (!is(Nuisance::labelled) && !is(Nuisance::generations)) {
      return;
    }
    const int count = std::max(1, static_cast<int>(std::lround(kOlderShare * fleet_.spec.nodes)));
    const Group& group = random_.one_of(fleet_.groups);
    std::vector<std::string> names(static_cast<std::size_t>(fleet_.spec.nodes), "newer");
    for (const int node : random_.some_of(fleet_.spec.nodes, count)) {
      names[node] = "older";
      for (int i = 0; i < fleet_.per_node(group); ++i) {
        slow_down(fleet_, group, node * fleet_.per_node(group) + i, kOlderSlower);
      }
    }
    if (is(Nuisance::labelled)) {
      fleet_.generations = std::move(names);
    }
  }

  void disturb_one_pass() {
    if (!is(Nuisance::one_pass)) {
      return;
    }
    const int node = random_.below(fleet_.spec.nodes);
    const int pass = random_.below(fleet_.spec.passes);
    const double slowness = std::log1p(random_.uniform(kDisturbedLow, kDisturbedHigh));
    for (std::size_t m = 0; m < fleet_.metrics.size(); ++m) {
      const int per_node = fleet_.per_node(fleet_.group_of(m));
      for (int i = 0; i < per_node; ++i) {
        fleet_.shifts.push_back({m, node * per_node + i, pass, slowness});
      }
    }
  }

  void measure() {
    for (std::size_t m = 0; m < fleet_.metrics.size(); ++m) {
      measure(m);
    }
    for (const Shift& shift : fleet_.shifts) {
      fleet_.measured[shift.metric][shift.subject * fleet_.spec.passes + shift.pass] +=
          shift.slowness;
    }
    if (is(Nuisance::coarse)) {
      make_coarse();
    }
  }

  void measure(std::size_t m) {
    const int passes = fleet_.spec.passes;
    const double drift = is(Nuisance::drift) ? random_.uniform(0, kDriftHigh) : 0;
    std::vector<double> measured;
    measured.reserve(fleet_.levels[m].size() * static_cast<std::size_t>(passes));
    for (const double level : fleet_.levels[m]) {
      for (int pass = 0; pass < passes; ++pass) {
        double x = level + fleet_.metrics[m].within * random_.normal();
        x += passes > 1 ? drift * pass / (passes - 1) : 0;
        if (fleet_.spec.tails == Tails::bimodal && random_.chance(kModeShare)) {
          x += modes_[m];
        }
        measured.push_back(x);
      }
    }
    fleet_.measured.push_back(std::move(measured));
  }

  // Half of the metrics.
  void make_coarse() {
    for (std::size_t m = 0; m < fleet_.metrics.size(); ++m) {
      const Metric& metric = fleet_.metrics[m];
      if (random_.chance(kHalfway)) {
        fleet_.resolutions[m] =
            kCoarseTimes * std::hypot(metric.between, metric.within) * metric.typical;
      }
    }
  }

  Random random_;
  Fleet fleet_;
  std::vector<double> modes_;  // by metric
};

}  // namespace

const Group& Fleet::group_of(std::size_t metric) const {
  return *std::ranges::find_if(
      groups, [metric](const Group& group) { return metric < group.first + group.count; });
}

std::string node_name(int node) { return fmt::format("node{:04}", node); }
std::string device_name(int device) { return fmt::format("gpu{}", device); }
std::string step_name(const Group& group) { return std::string(to_string(group.layer)); }

std::string metric_name(const Fleet& fleet, std::size_t metric) {
  return step_name(fleet.group_of(metric)) + "." + fleet.metrics[metric].info.name;
}

Subject subject_of(const Fleet& fleet, const Group& group, int subject) {
  if (!group.of_devices) {
    return {.kind = "node", .node = node_name(subject)};
  }
  return {.kind = "device",
          .node = node_name(subject / fleet.spec.devices),
          .device = device_name(subject % fleet.spec.devices)};
}

double raw_value(const Fleet& fleet, std::size_t metric, double slowness) {
  const Metric& of = fleet.metrics[metric];
  const double value =
      of.typical * std::exp(of.info.better == Better::lower ? slowness : -slowness);
  const double step = fleet.resolutions[metric];
  // What is typical lies on the grid, so that most values are equal.
  return step > 0 ? std::max(of.typical + std::round((value - of.typical) / step) * step, step / 8)
                  : value;
}

Fleet simulate_fleet(const FleetSpec& spec, std::uint64_t seed) {
  check(spec);
  return Simulation(spec, seed).run();
}

}  // namespace fleetbench::simulation
