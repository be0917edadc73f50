// A scenario: which probes run, with which parameters, on whom, how often.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results-schema/metric.hpp"

namespace fleetbench {

// Bytes of a scenario's text; more is no scenario.
inline constexpr std::size_t kLongestScenario = std::size_t{1} << 20U;

inline constexpr const char* kScenarioSchema = "fleetbench-scenario/1.2";

// `together`: all subjects at once, for what is private to each. `alone`: one subject at a time.
// `both`: one after the other; their difference is contention. `ramp`: 1, 2, 4 … nodes at once, for
// what all share.
enum class Schedule { together, alone, both, ramp };

// Of steps on GPUs. `all`: all of a node at once, which share what they hang on. `one`: one of each
// node at a time. `both`: one after the other.
enum class Devices { all, one, both };

// `all_pairs`: every pair meets, in rounds of disjoint pairs. `matchings`: k random rounds.
enum class Pairs { all_pairs, matchings };

// Of steps whose GPUs measure with each other: which of them do. `nodes`: all GPUs of all nodes
// that meet. `node`: those of each node. `rails`: those of the same name, one of each node that
// meets.
enum class Across { nodes, node, rails };

// For a probe of a group: `rounds` random partitions of the fleet into groups of about `size`.
struct Groups {
  int size = 8;
  int rounds = 4;
};

struct ScenarioStep {
  std::string id;  // defaults to the probe's name
  std::string probe;
  Json params = Json::object();  // complete once resolved against the probe's schema
  Schedule schedule = Schedule::together;
  Devices devices = Devices::all;
  Pairs pairs = Pairs::all_pairs;
  int matchings = 8;
  std::optional<Across> across;  // absent: `rails` of pairs, `nodes` of groups
  int cross_rails = 0;           // of pairs across rails: more rounds, of two GPUs on two rails
  std::optional<Groups> groups;  // absent: all nodes are one group
  std::optional<int> passes;     // fewer than the scenario's
  double operations = 1e6;       // of a ramp, by all nodes in the whole run
  double limit_s = 60;           // for one slot, whatever its peers do
};

// Whether the step works on what all nodes share (`shared` among its parameters): such a step is
// never run on all of them at once, unless in a ramp.
bool loads_what_is_shared(const ScenarioStep& step);

struct Scenario {
  std::string name;
  std::string description;
  int passes = 5;
  std::vector<ScenarioStep> steps;
};

std::string_view to_string(Schedule schedule);
std::string_view to_string(Pairs pairs);
std::string_view to_string(Across across);
Schedule parse_schedule(std::string_view text);

Json to_json(const Scenario& scenario);

// Reads and checks `text`; `source` (a file name) stands before each error. Throws InputError
// naming every fault: source, path, value and what is allowed. Knows nothing of probes yet. Takes
// scenarios of any 1.x.
Scenario parse_scenario(const std::string& text, const std::string& source);

}  // namespace fleetbench
