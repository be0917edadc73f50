// Samples on their way from another tool's file to a run: one row for each value or failure, with
// its place. Readers fill SampleRows; assemble() makes the run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/record/imported_samples.hpp"
#include "harness/record/problems.hpp"

namespace fleetbench::record {

// Each name once, by number.
class NameTable {
 public:
  int number(std::string_view name);  // the same for the same name; new ones count up from 0
  std::optional<int> find(std::string_view name) const;
  const std::string& name(int number) const { return names_.at(static_cast<std::size_t>(number)); }
  int size() const { return static_cast<int>(names_.size()); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, int, Hash, std::equal_to<>> numbers_;
  std::vector<std::string> names_;
};

struct ImportedMetric {
  int step = 0;
  std::string name;
  std::string unit;
  std::optional<Better> better;  // absent: assemble() takes it from the unit, or reports an error
  std::optional<Layer> layer;    // absent: assemble() takes it from name and unit
  bool judged = true;
  bool covariate = false;
};

inline constexpr int kNone = -1;
inline constexpr std::int64_t kNoPass = std::numeric_limits<std::int64_t>::min();

struct SampleRow {
  int file = 0;
  int line = 0;
  int step = 0;
  int metric = kNone;  // none: a failure of the whole step
  int node = 0;
  int device = kNone;
  int peer = kNone;
  Status status = Status::ok;
  int reason = kNone;           // why it is not ok
  std::int64_t pass = kNoPass;  // as the file has it; kNoPass: the next one of this subject
  double value = 0;             // finite where ok
};

// What rows have in common: a pass or metric, then step, node, device, peer.
using RowKey = std::array<int, 5>;

struct RowKeyHash {
  std::size_t operator()(const RowKey& key) const {
    std::size_t hash = 0;
    for (const int part : key) {
      hash = (hash ^ static_cast<unsigned>(part)) * 0x9E3779B97F4A7C15U;  // 2^64 / golden ratio
      hash ^= hash >> 32U;
    }
    return hash;
  }
};

// A step that a node did not take part in although others did.
struct RowOmission {
  int step = 0;
  int node = 0;
  std::string reason;
};

struct SampleRows {
  std::vector<std::string> files;
  NameTable nodes;
  NameTable devices;
  NameTable steps;
  std::vector<std::string> cohorts;  // by node; shorter where the last ones have none
  std::vector<ImportedMetric> metrics;
  std::vector<std::string> reasons;
  std::vector<SampleRow> rows;  // file by file
  std::vector<RowOmission> omissions;
  Problems errors;
  Problems warnings;

  void error(std::string kind, int file, int line, std::string message);
  void warn(std::string kind, int file, int line, std::string message);
  int reason(std::string text);
};

// Beyond them lies more memory than a machine has.
struct ImportLimits {
  // Values of one step are kept as a rectangle of samples by metrics: places in it, 16 bytes each.
  std::size_t places = std::size_t{1} << 26U;
  std::size_t samples = std::size_t{1} << 24U;  // some 300 bytes each, also one that failed
};

// Joins rows of the same subject and pass to samples, finds directions and layers that were not
// given, and counts passes: given ones in their order, else the k-th row of a subject and metric is
// its k-th pass. A file that has values which an earlier one has too adds passes, else nodes or
// metrics. Throws InputError where the samples are beyond the limits.
ImportedSamples assemble(SampleRows rows, const ImportLimits& limits = {});

// The text, without spaces around it, as a number in decimal notation; none where it is anything
// else or not finite.
std::optional<double> finite_number(std::string_view text);

// "node is 100000 bytes long, 512 at most are read: \"node...\"" of a name beyond kLongestName.
std::string too_long(std::string_view what, std::string_view name);

// Without spaces, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace fleetbench::record
