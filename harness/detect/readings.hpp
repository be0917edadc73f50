// What was read beside a figure (a sample's "gpu" and "evidence", see docs/probes.md), as flat
// lists of named values that can be laid side by side.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::detect {

// How one reading is compared with the others'.
enum class ReadingKind {
  state,    // one of few values: with what most have
  counter,  // what rose in a slot, or happened: with what the others counted in theirs
  total,    // a counter since long before the run
  share,    // of the readings or of the time
  rate,     // how often something happened, against what was carried: mostly never
  level     // a clock, a temperature: on the log scale
};

enum class Worse { higher, lower, either };

struct ReadingType {
  // In a sample's detail; "/*" at the end: each key of the object, or each element of the array.
  std::string_view path;
  ReadingKind kind;
  Worse worse;
  // "{of}" becomes " of gpu2", "{key}" the last part of the path, "{more}" what was read with it;
  // "{value}" and "{others}" are with their units, "{others_have}" is "others none", "median 3".
  std::string_view text;
  std::string_view unit;
  std::string_view name;  // where it could not be read
  // Of levels, rates and shares: what it spreads by among healthy subjects, before anything is
  // known.
  double assumed_spread = 0;
  unsigned causes = 0;          // bits of the layers in which it is a cause by itself
  bool is_fault = false;        // an error whatever the others have
  bool condemns = false;        // ... and a finding by itself, see device_errors.hpp
  bool warns = false;           // a finding by itself, though a mild one, see port_errors.hpp
  bool absent_is_zero = false;  // where anything was read beside it
};

constexpr unsigned bit(Layer layer) { return 1U << static_cast<unsigned>(layer); }

// What tells most comes first.
const std::vector<ReadingType>& reading_types();

// Whose reading it is: a device, or a node with the device empty.
struct Reader {
  int node = 0;
  std::string device;

  auto operator<=>(const Reader&) const = default;
};

// One reading of all who have it: the sum of what they counted, the largest total, else the median
// of their slots.
struct Series {
  const ReadingType* type = nullptr;
  std::string key;  // of "/*"
  std::map<Reader, double> values;
  std::map<Reader, std::string> more;  // where it rose; " of 18" links

  std::string path() const;
};

// What nodes and devices read while `steps` were measured in the main passes, of nodes where
// `looked_at` says so. One pass over the samples.
class ReadingsOfSteps {
 public:
  ReadingsOfSteps(const RunData& run, const std::vector<int>& steps,
                  const std::vector<bool>& looked_at);

  // In the order of reading_types(), then of keys.
  const std::vector<Series>& series() const { return series_; }
  // Who has a sample with a figure, or with a reading.
  const std::vector<Reader>& nodes() const { return nodes_; }
  const std::vector<Reader>& devices() const { return devices_; }
  const std::vector<Reader>& readers(const ReadingType& type) const;
  // Why somebody's could not be read, as a probe said; empty where none did.
  std::string reason(const Reader& reader) const;

 private:
  std::vector<Series> series_;
  std::vector<Reader> nodes_;
  std::vector<Reader> devices_;
  std::map<Reader, std::string> reasons_;
};

}  // namespace fleetbench::detect
