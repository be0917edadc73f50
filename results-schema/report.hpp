// What a run means: findings, verdict, and what could not be said. Written as report.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results-schema/metric.hpp"
#include "results-schema/run.hpp"

namespace fleetbench {

inline constexpr const char* kReportMajor = "fleetbench-report/1.";
inline constexpr const char* kReportSchema = "fleetbench-report/1.4";

enum class Verdict { pass, warn, fail, inconclusive };

std::string_view to_string(Verdict verdict);  // "PASS", "WARN", "FAIL", "INCONCLUSIVE"
Verdict parse_verdict(std::string_view text);
// As Nagios numbers them: 0 PASS, 1 WARN, 2 FAIL, 3 INCONCLUSIVE.
int nagios_code(Verdict verdict);

enum class Direction { slow, fast, wrong, missing };
enum class FindingStatus { suspect, confirmed, tentative, not_reproduced };

std::string_view to_string(Direction direction);
std::string_view to_string(FindingStatus status);
// Throw std::invalid_argument naming the text and what is allowed.
Direction parse_direction(std::string_view text);
FindingStatus parse_finding_status(std::string_view text);

// Which fields are set depends on kind: node (node), device (node, device), link (a, b; directed
// where `directed`; rail, where it is between devices), rail (rail; node, where it is that of one
// node; nodes, where it is that of some), switch (switch_name), group (nodes), fleet (none).
struct Subject {
  std::string kind;
  std::string node;
  std::string device;
  std::string a;
  std::string b;
  bool directed = false;
  std::string rail;         // what its devices are called: "gpu3"
  std::string switch_name;  // written as "switch"
  std::vector<std::string> nodes;

  bool operator==(const Subject&) const = default;
};

// "node2", "node0 -> node1", "node0 - node1 rail gpu3", "node2 rail gpu3", "rail gpu3 of 9 nodes",
// "rail gpu3", "switch leaf3", "4 nodes".
std::string describe(const Subject& subject);

// "7.3 % slower than PEERS", "4.0 times as slow as PEERS", "1.5 times as fast as PEERS"; without
// peers the comparison ends after "slower" or "slow". `slowdown_pct` is a share of time.
std::string describe_slowdown(double slowdown_pct, std::string_view peers = {});
// "[6.1 .. 8.4 %]", "[3.9 .. 4.1 times]": the interval in the unit of the slowdown's description.
std::string describe_interval(double slowdown_pct, double low_pct, double high_pct);

struct MetricEvidence {
  std::string metric;
  std::string unit;
  double value = 0;         // the subject's
  double median = 0;        // its peers'
  double slowdown_pct = 0;  // as a share of time: 1.2 times as long is +20
};

// What was read beside a figure, and what the others read.
struct ReadingEvidence {
  std::string what;  // where it stands in a sample's detail: "gpu.pcie_width"
  double value = 0;
  std::optional<double> others;  // what most have, or their median; absent: there are none
  std::string unit;              // "Hz", "share" …; empty of what is counted
};

// What speaks for a culprit among pairs and groups, and what against.
struct Counts {
  int slow_touching = 0;  // of those that touch it
  int touching = 0;
  int slow_others = 0;  // of those that do not, and are explained by no other finding
  int others = 0;
};

struct Evidence {
  std::string text;
  std::string source;  // where a person can look it up: "cpu_gemm", "inventory", "journal"
  std::optional<ReadingEvidence> reading = {};
};

struct Finding {
  int rank = 0;  // 1 is the first to look at
  Subject subject;
  Direction direction = Direction::slow;
  FindingStatus status = FindingStatus::suspect;
  Layer layer = Layer::host;
  double slowdown_pct = 0;  // 0 for wrong and missing
  double ci_low_pct = 0;    // nominal 90 % interval of the present level against the median
  double ci_high_pct = 0;
  double p_value = 1;  // after correction for everything that was tested
  std::vector<MetricEvidence> metrics;
  std::vector<Evidence> evidence;
  std::optional<Counts> counts;     // of pairs and groups, where they named the subject
  std::optional<int> explained_by;  // rank of the finding that is its cause
  // Clocks, temperatures …: slow as measured, but not beyond what these lead one to expect.
  std::vector<std::string> explained_by_covariates;
  std::string next_check;
  // What was read beside its figures, differs from the others' and slows such figures: "clock held
  // back by …"; empty where nothing is.
  std::string cause;
  // That of its layer which a slow host does not slow was measured and is well: whatever its size,
  // it can be the host's. Not written.
  bool host_bound = false;
};

struct MetricSummary {
  std::string metric;
  std::string unit;
  Layer layer = Layer::host;
  SubjectKind subject = SubjectKind::node;
  int subjects = 0;
  double median = 0;
  double lowest = 0;
  double highest = 0;
  bool judged = true;     // false: explains others; spread and noise are not looked at
  double spread_pct = 0;  // robust standard deviation between subjects
  double within_pct = 0;  // standard deviation from pass to pass of one subject
  std::optional<double> smallest_visible_pct;  // slowdown that would have been reported
  // False: so noisy that not even three times the minimum effect could have been seen.
  bool usable = true;
};

// Groups of nodes between which pairs are slower than within: how they are joined, and no fault.
struct Blocks {
  std::string metric;
  std::string unit;
  std::vector<std::vector<std::string>> nodes;  // names, by block
  double within = 0;                            // medians
  double across = 0;
};

struct NotMeasured {
  std::string what;  // step, metric or subject
  std::string reason;
};

struct Report {
  std::string run_id;
  std::string suite;
  Verdict verdict = Verdict::inconclusive;
  std::vector<std::string> verdict_reasons;  // one sentence each, the weightiest first
  std::vector<Finding> findings;
  std::vector<Evidence> configuration;  // outliers of the inventory
  std::vector<MetricSummary> metrics;
  std::vector<NotMeasured> not_measured;
  std::vector<Blocks> blocks;
  std::vector<std::string> notes;  // what cannot be told apart, warnings about the set-up
  int nodes = 0;
  int ranks = 0;
  std::map<std::string, int> gpus;  // that CUDA showed, by model
  std::vector<std::string> lost_nodes;
  std::optional<TimeShares> time;
  std::optional<WaitingCost> waiting;
};

Json to_json(const Report& report);
Report report_from_json(const Json& json);

}  // namespace fleetbench
