#include "harness/simulate/pair_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/simulate/random.hpp"

namespace fleetbench::simulation {
namespace {

constexpr double kTypical = 24e9;  // B/s
constexpr double kFailedShare = 0.02;
constexpr double kBlockLow = 0.3;
constexpr double kBlockHigh = 0.5;
constexpr int kAllRails = -1;

enum PairStream : std::uint32_t { kNodes, kWho, kNoise };

class PairSimulation {
 public:
  PairSimulation(const PairSpec& spec, std::uint64_t seed)
      : spec_(spec), nodes_(seed, kNodes), who_(seed, kWho), noise_(seed, kNoise) {}

  PairFleet run() {
    add_header();
    choose_blocks();
    choose_fault();
    own_.resize(static_cast<std::size_t>(spec_.nodes * std::max(1, spec_.rails)));
    for (double& own : own_) {
      own = spec_.between * spec_.noise * nodes_.deviate(spec_.tails);
    }
    for (const auto& [a, b] : pairs()) {
      for (int rail = 0; rail < std::max(1, spec_.rails); ++rail) {
        measure(a, b, rail);
        if (!spec_.symmetric) {
          measure(b, a, rail);
        }
      }
    }
    fleet_.run.end = EndRecord{false, "", {60, 10, 45}, {spec_.nodes, 0.001, 30e6}};
    return std::move(fleet_);
  }

 private:
  void add_header() {
    RunHeader& header = fleet_.run.header;
    header.run_id = "simulated-pairs";
    header.created = "2024-05-01T12:00:00Z";
    header.version = header.build = header.suite = "simulated";
    header.scenario = Json::object();
    for (int i = 0; i < spec_.nodes; ++i) {
      header.nodes.push_back(
          {i, node_name(i), "boot-" + node_name(i), {i}, Json{{"cpu", {{"cores", 8}}}}, ""});
    }
    add_topology(header.topology);
    StepRecord step;
    step.id = step.probe = "pairs";
    step.params = step.work = Json::object();
    MetricInfo metric;
    metric.name = "bandwidth";
    metric.unit = "B/s";
    metric.better = Better::higher;
    metric.layer = Layer::network;
    metric.subject = SubjectKind::link;
    metric.symmetric = spec_.symmetric;
    metric.next_check = "Nothing: it is simulated.";
    step.metrics = {metric};
    fleet_.run.steps.push_back(std::move(step));
  }

  void add_topology(Topology& topology) {
    if (spec_.leaf_size == 0) {
      return;
    }
    Switch spine{"spine", {}, {}};
    for (int node = 0; node < spec_.nodes; ++node) {
      if (node % spec_.leaf_size == 0) {
        topology.switches.push_back({leaf_name(leaf_of(node)), {}, {}});
        spine.switches.push_back(topology.switches.back().name);
      }
      topology.switches.back().nodes.push_back(node_name(node));
    }
    topology.switches.push_back(std::move(spine));
  }

  int leaf_of(int node) const { return node / spec_.leaf_size; }
  static std::string leaf_name(int leaf) { return fmt::format("leaf{}", leaf); }
  int leaves() const { return (spec_.nodes + spec_.leaf_size - 1) / spec_.leaf_size; }

  void choose_blocks() {
    block_.assign(static_cast<std::size_t>(spec_.nodes), 0);
    if (spec_.blocks == PairBlocks::leaves) {
      for (int node = 0; node < spec_.nodes; ++node) {
        block_[node] = leaf_of(node);
      }
    } else if (spec_.blocks == PairBlocks::two) {
      const double share = nodes_.uniform(kBlockLow, kBlockHigh);
      for (const int node : nodes_.some_of(
               spec_.nodes, std::max(3, static_cast<int>(std::lround(share * spec_.nodes))))) {
        block_[node] = 1;
      }
    }
  }

  void choose_fault() {
    bad_node_ = who_.below(spec_.nodes);
    other_node_ = (bad_node_ + 1 + who_.below(spec_.nodes - 1)) % spec_.nodes;
    bad_rail_ = spec_.rails > 0 ? who_.below(spec_.rails) : kAllRails;
    if (spec_.leaf_size > 0) {
      bad_leaf_ = leaf_of(bad_node_);
    }
    switch (spec_.fault) {
      case PairFault::node:
      case PairFault::disconnected:
        note({.kind = "node", .node = node_name(bad_node_)});
        break;
      case PairFault::two_nodes:
        note({.kind = "node", .node = node_name(bad_node_)});
        note({.kind = "node", .node = node_name(other_node_)});
        break;
      case PairFault::rail:
        note({.kind = "rail", .node = node_name(bad_node_), .rail = rail_name(bad_rail_)});
        break;
      case PairFault::whole_rail:
        note({.kind = "rail", .rail = rail_name(bad_rail_)});
        break;
      case PairFault::leaf:
      case PairFault::uplink:
        note({.kind = "switch", .switch_name = leaf_name(bad_leaf_)});
        break;
      case PairFault::link:
      case PairFault::none:
      case PairFault::failed:
        break;
    }
  }

  static std::string rail_name(int rail) { return fmt::format("gpu{}", rail); }

  void note(Subject subject) {
    fleet_.faults.push_back(
        {std::move(subject), Direction::slow, Layer::network, {"pairs.bandwidth"}, spec_.effect});
  }

  // Unordered, in random order.
  std::vector<std::pair<int, int>> pairs() {
    std::set<std::pair<int, int>> pairs;
    if (spec_.matchings == 0) {
      for (int a = 0; a < spec_.nodes; ++a) {
        for (int b = a + 1; b < spec_.nodes; ++b) {
          pairs.insert({a, b});
        }
      }
    }
    for (int k = 0; k < spec_.matchings; ++k) {
      std::vector<int> order = who_.some_of(spec_.nodes, spec_.nodes);
      if (spec_.fault == PairFault::disconnected) {
        std::ranges::stable_partition(order, [&](int node) { return node < spec_.nodes / 2; });
      }
      for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
        pairs.insert(std::minmax(order[i], order[i + 1]));
      }
    }
    if (spec_.fault == PairFault::disconnected) {
      std::erase_if(pairs, [&](const auto& pair) {
        return (pair.first < spec_.nodes / 2) != (pair.second < spec_.nodes / 2);
      });
    }
    if (spec_.fault == PairFault::link) {
      choose_link(pairs);
    }
    return {pairs.begin(), pairs.end()};
  }

  void choose_link(const std::set<std::pair<int, int>>& pairs) {
    auto chosen = pairs.begin();
    std::advance(chosen, who_.below(static_cast<int>(pairs.size())));
    const bool turn = !spec_.symmetric && who_.chance(0.5);
    bad_node_ = turn ? chosen->second : chosen->first;
    other_node_ = turn ? chosen->first : chosen->second;
    Subject subject{.kind = "link",
                    .a = node_name(bad_node_),
                    .b = node_name(other_node_),
                    .directed = !spec_.symmetric};
    subject.rail = bad_rail_ >= 0 ? rail_name(bad_rail_) : "";
    note(std::move(subject));
  }

  bool is_slow(int from, int to, int rail) const {
    const bool touches = from == bad_node_ || to == bad_node_;
    switch (spec_.fault) {
      case PairFault::node:
      case PairFault::disconnected:
        return touches;
      case PairFault::two_nodes:
        return touches || from == other_node_ || to == other_node_;
      case PairFault::rail:
        return touches && rail == bad_rail_;
      case PairFault::whole_rail:
        return rail == bad_rail_;
      case PairFault::link:
        return from == bad_node_ && to == other_node_ && (spec_.rails == 0 || rail == bad_rail_);
      case PairFault::leaf:
        return leaf_of(from) == bad_leaf_ || leaf_of(to) == bad_leaf_;
      case PairFault::uplink:
        return (leaf_of(from) == bad_leaf_) != (leaf_of(to) == bad_leaf_);
      case PairFault::none:
      case PairFault::failed:
        break;
    }
    return false;
  }

  double own(int node, int rail) const { return own_[node * std::max(1, spec_.rails) + rail]; }

  void measure(int from, int to, int rail) {
    double x = std::max(own(from, rail), own(to, rail)) +
               spec_.between * spec_.noise * nodes_.deviate(spec_.tails);
    x += block_[from] != block_[to] ? std::log1p(spec_.block_effect) : 0;
    x += is_slow(from, to, rail) ? std::log1p(spec_.effect) : 0;
    const bool fails = spec_.fault == PairFault::failed && who_.chance(kFailedShare);
    for (int pass = 0; pass < spec_.passes; ++pass) {
      SampleRecord sample;
      sample.pass = pass;
      sample.slot = pass;
      sample.node = from;
      sample.peer = to;
      if (spec_.rails > 0) {
        sample.ends = {{from, rail_name(rail)}, {to, rail_name(rail)}};
      }
      if (fails) {
        sample.status = Status::failed;
        sample.reason = "simulated";
      } else {
        sample.values = {kTypical * std::exp(-x - spec_.noise * noise_.normal())};
      }
      fleet_.run.samples.push_back(std::move(sample));
    }
  }

  const PairSpec spec_;
  Random nodes_;
  Random who_;
  Random noise_;
  PairFleet fleet_;
  std::vector<double> own_;  // of nodes, or of their rails
  std::vector<int> block_;
  int bad_node_ = 0;
  int other_node_ = 0;
  int bad_rail_ = kAllRails;
  int bad_leaf_ = 0;
};

}  // namespace

PairFleet simulate_pairs(const PairSpec& spec, std::uint64_t seed) {
  check(spec);
  return PairSimulation(spec, seed).run();
}

}  // namespace fleetbench::simulation
