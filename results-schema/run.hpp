// A run as it is recorded: who took part, what was asked, and every sample that came back.
// run.json holds RunHeader; each line of journal.jsonl holds one of the records below.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "results-schema/inventory.hpp"
#include "results-schema/metric.hpp"
#include "results-schema/topology.hpp"

namespace fleetbench {

inline constexpr const char* kRunSchema = "fleetbench-run/1.3";
inline constexpr const char* kJournalSchema = "fleetbench-journal/1.4";

struct NodeInfo {
  int index = 0;     // position in RunHeader::nodes
  std::string name;  // host name, made unique where hosts share one
  std::string boot_id;
  std::vector<int> ranks;  // MPI ranks on this node; the first one leads. Empty: it never came up
  Inventory inventory;     // null where it could not be taken
  std::string cohort;      // named by who gave the samples; empty: follows from the inventory
  int leader() const { return ranks.front(); }
};

struct RunHeader {
  std::string run_id;
  std::string created;  // ISO 8601, UTC
  std::string version;
  std::string build;
  std::string suite;  // name of the scenario
  std::vector<std::string> arguments;
  std::uint64_t seed = 0;  // of everything that was drawn: orders, matchings, samples
  Json scenario;           // as it was run, after --only, --skip, --passes, --schedule
  std::vector<NodeInfo> nodes;
  Topology topology;  // of the switches between them, where somebody described it
};

// Comes before the first sample of its step: the names for the positions in `values`.
struct StepRecord {
  int step = 0;
  std::string id;  // unique in the run; stands before each metric's name
  std::string probe;
  int method = 1;          // of the probe: figures of different ones cannot be compared
  bool concurrent = true;  // false: its subjects were measured one at a time
  bool sampled = false;    // some nodes, drawn at random, stand for all
  // Nodes measure with each other and wait for each other, also where each has a value of its own.
  bool of_group = false;
  Json params;
  Json work;  // iteration counts fixed for the whole fleet
  std::vector<MetricInfo> metrics;
};

// A device of a node by which it took part in a measurement between devices: a GPU with its NIC.
// Devices of the same name on all nodes are one rail.
struct End {
  int node = 0;
  std::string device;  // "gpu3"; of imported samples what they say, as its PCI address

  bool operator==(const End&) const = default;
};

// What one owner measured in one slot.
struct SampleRecord {
  int slot = 0;
  int step = 0;
  int pass = 0;
  int node = 0;
  std::string device;       // of `node`, where the sample is of one of its devices: "gpu0"
  std::optional<int> peer;  // link samples: from `node` to `peer`
  // Measured again to confirm a suspect, not to compare the fleet: the position of the record that
  // says whom with whom.
  std::optional<int> confirms;
  // Who measured together, in the order of members, where that was not the whole fleet.
  std::vector<int> group;
  // By which devices nodes took part, where not all of all did or where that is known of imported
  // samples; of a link those of `node` before those of `peer`. Of a rail of more than 256 the first
  // two, by node, stand for all, the same in each of its samples; of more than 256 that are no
  // rail, some of all, nothing is said.
  std::vector<End> ends;
  Status status = Status::ok;
  std::string reason;  // why it is not ok
  Values values;       // one per metric of the step; empty unless ok
  double start_s = 0;  // since the run began, on the root's clock
  double prepare_s = 0;
  double measure_s = 0;
  Json detail;  // what explains the values: resource use, last words of a worker
};

// A suspect and the healthy subject beside which it is measured again.
struct Comparison {
  int node = 0;
  std::optional<int> peer;  // the suspect is a link: its other end
  std::string device;       // ... a device of `node`
  int reference = 0;        // of the same kind as the suspect
  std::optional<int> reference_peer;
  std::string metric;  // that is compared, as the report has it: "cpu_gemm.fp64"
};

// One step is measured again for suspects. Its samples name it by `confirms`, their `pass` counts
// the pairs: in each there is a value of the suspect and one of its reference.
struct ConfirmRecord {
  int confirm = 0;  // position among these records
  int step = 0;
  int pairs = 0;  // planned; 0: left out
  std::vector<Comparison> compared;
  std::string reason;  // why it was left out
  // Each by itself, with nothing else under way, where others measured beside it before: does a
  // link stay slow when the fleet is quiet?
  bool solo = false;
};

// A rank that stopped answering, or a node that never came up. Nothing of the node is measured
// afterwards.
struct LossRecord {
  std::optional<int> rank;  // absent: not known
  int node = 0;
  std::optional<int> slot;  // absent: before the first one
  std::string step;
  std::string phase;  // "launch", "start", "prepare", "measure", "bye"
  std::string reason;
};

// A step, or one node of a step, that was not measured, and why.
struct OmissionRecord {
  std::string step;
  std::optional<int> node;
  std::string reason;
};

// Where the wall time of the run went, in seconds: preparation + measurement + other = wall.
struct TimeShares {
  double wall_s = 0;
  double preparation_s = 0;
  double measurement_s = 0;
  double other_s() const { return wall_s - preparation_s - measurement_s; }
};

// What the ranks cost while they waited for their turn: the worst of all ranks.
struct WaitingCost {
  int ranks = 0;              // that reported
  double max_core_share = 0;  // CPU time over wall time while waiting; 0.001 is 0.1 % of a core
  double max_resident_bytes = 0;
};

// A run that broke off goes on. What was said of losses, omissions and of its end counts no longer;
// what still holds is said again.
struct ResumeRecord {
  std::string created;  // ISO 8601, UTC
  double start_s = 0;   // where its clock goes on, on that of the run
};

struct EndRecord {
  bool interrupted = false;
  std::string reason;
  TimeShares time;
  WaitingCost waiting;
};

using Record = std::variant<StepRecord, SampleRecord, LossRecord, OmissionRecord, ConfirmRecord,
                            ResumeRecord, EndRecord>;

// Everything that is known of a run; what the detector and the report work from.
struct RunData {
  RunHeader header;
  std::vector<StepRecord> steps;  // steps[i].step == i
  std::vector<SampleRecord> samples;
  std::vector<LossRecord> losses;
  std::vector<OmissionRecord> omissions;
  std::vector<ConfirmRecord> confirmations;  // confirmations[i].confirm == i
  std::optional<EndRecord> end;              // absent: the run broke off
  std::vector<std::string> damage;           // what could not be read, with its place
  bool imported = false;  // samples of another tool: nothing can be measured again
};

// Adds a record to what is known. Throws std::invalid_argument where a sample names a step, node,
// confirmation or number of values that does not exist.
void add_record(RunData& run, Record record);

Json to_json(const RunHeader& header);
Json to_json(const NodeInfo& node);
Json to_json(const Record& record);
// Throw nlohmann::json::exception or std::invalid_argument with the key that is wrong.
RunHeader run_header_from_json(const Json& json);
Record record_from_json(const Json& json);

}  // namespace fleetbench
