// Turns the steps of a scenario into an ordered list of slots.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/probe.hpp"
#include "results-schema/run.hpp"
#include "results-schema/scenario.hpp"

namespace fleetbench::plan {

// Nodes that measure with each other: one by itself, two of a pair, or the members of a group.
using Party = std::vector<int>;

// What measures a step on its nodes.
enum class Runner {
  worker,       // one process for the node
  gpu_workers,  // one process for each of its GPUs
  rank,         // the ranks themselves, over MPI
};

std::string_view to_string(Runner runner);
Runner parse_runner(std::string_view text);  // throws InputError

// One level of a ramp, see ramp.hpp.
struct RampLevel {
  std::string of;  // id of the scenario's step
  int nodes = 0;   // that measure at once; 0: not laid out yet
};

// One step of a scenario in one schedule: `both` makes two of it, "ID" and "ID@alone", or "ID" and
// "ID@one" of devices.
struct PlannedStep {
  ScenarioStep scenario;
  ProbeInfo probe;  // of a group's that is measured within each node: participants are nodes
  std::string id;
  bool concurrent = true;  // its parties measure at the same time
  bool sampled = false;    // alone beyond kAloneLimit nodes: some nodes stand for all
  std::optional<RampLevel> ramp;
  int passes = 1;
  Runner runner = Runner::worker;
  bool one_device = false;        // one GPU of each node at a time
  Across across = Across::nodes;  // of a step that joins workers
  Json work = Json::object();     // iteration counts, fixed for the whole fleet
  std::vector<MetricInfo> metrics;
};

// What is measured at the same time. Parties of a slot share no node; where GPUs measure with each
// other, those of a party may do so in several teams (teams.hpp).
struct Slot {
  int index = 0;
  int step = 0;  // into the list of planned steps
  int pass = 0;
  std::vector<Party> parties;
  std::string device = {};       // the one of each node that is measured; empty: all of them
  std::string peer_device = {};  // of the second of each pair, where that is another
  // Of a confirmation, see confirmation.hpp: its position; `pass` then counts the pairs.
  std::optional<int> confirms;
};

// A schedule of the command line that overrides those of the steps.
enum class ScheduleOverride { none, alone, together };

// From this many nodes on, a step that its scenario schedules alone runs on kAloneSample random
// ones; an override measures all.
inline constexpr int kAloneLimit = 16;
inline constexpr int kAloneSample = 8;

// Whether GPUs of one rail meet, each rail by itself.
bool is_of_rails(const PlannedStep& step);

// What a scenario's step needs to know of its probe.
struct ProbeChoice {
  ProbeInfo info;
  Runner runner = Runner::worker;
};

// `probe_of[i]` belongs to scenario.steps[i]. `ranks_are_nodes`: several nodes share one machine,
// so probes of a node run alone unless `schedule` says otherwise. What all nodes share (`shared` in
// the parameters) is never loaded by all at once. A step that ramps does so
// whatever they say, unless that is alone; it has yet to be laid out by expand_ramps.
std::vector<PlannedStep> plan_steps(const Scenario& scenario,
                                    const std::vector<ProbeChoice>& probe_of,
                                    ScheduleOverride schedule, bool ranks_are_nodes);

// Nodes in all parties of all slots of a run: some gigabytes of memory.
inline constexpr std::size_t kMostMembers = 50'000'000;

// All slots of a run in order: passes outside, steps inside, so that a disturbance hits one sample
// of each metric and not all samples of one. Orders, pairings and samples are drawn from `seed`.
// `devices`: labels of all that there are, for steps that measure one at a time.
// Throws InputError where there would be more than kMostMembers.
std::vector<Slot> make_slots(const std::vector<PlannedStep>& steps, int nodes, std::uint64_t seed,
                             const std::vector<std::string>& devices = {});

// What the slots of one pass of a step measure that is concurrent, each entry at one time; of one
// that is not, each party by itself. As in make_slots() with the same `seed`, but for the order.
// `index` is the step's position.
std::vector<std::vector<Party>> rounds_of_step(const PlannedStep& step, int index, int nodes,
                                               int pass, std::uint64_t seed);

// The slot without the nodes that are gone (a pair needs both, a group two). `gone[node]`.
Slot without(Slot slot, const std::vector<bool>& gone, Participants participants);

// Why a fleet of so many nodes has nothing to measure in a step; nothing where it has.
std::optional<std::string> reason_without_slots(const PlannedStep& step, int nodes);

// "mpi_pairs, pass 2 of 5"; "mpi_pairs again, pair 2"
std::string describe(const Slot& slot, const PlannedStep& step);

}  // namespace fleetbench::plan
