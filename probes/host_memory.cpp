// Memory bandwidth of a node, as STREAM measures it, and of its NUMA nodes near and far.
#include <algorithm>
#include <cmath>

#include "probes/memory/memory_arrays.hpp"
#include "probes/memory/memory_room.hpp"
#include "probes/registry.hpp"
#include "probes/support/median.hpp"
#include "probes/support/text_fields.hpp"

namespace fleetbench {
namespace {

// Odd counts have a median that was measured; five let one disturbance pass without a trace.
constexpr int kRepetitions = 5;
// Pairs of NUMA nodes grow with the square of their number: 64 on two CPUs in four parts each.
constexpr int kPairRepetitions = 3;

struct Kernel {
  const char* name;
  int arrays;  // that STREAM counts: those read and those written
  MemoryKernel kernel;
};
constexpr std::array<Kernel, 3> kKernels{{{"copy", 2, MemoryKernel::copy},
                                          {"triad", 3, MemoryKernel::triad},
                                          {"read", 1, MemoryKernel::read}}};

// Bytes of one array: STREAM's rule, for this machine.
std::size_t wanted_array_bytes(const Json& params, const MachineTopology& topology) {
  const double cache = static_cast<double>(topology.last_cache_bytes());
  const double by_cache = params.at("times_cache").get<double>() * cache;
  return static_cast<std::size_t>(std::max(by_cache, params.at("min_bytes").get<double>()));
}

class PreparedMemory : public Prepared {
 public:
  PreparedMemory(const Json& params, std::size_t array_bytes, const Json& iterations)
      : arrays_(fitting(params, array_bytes, topology_)), iterations_(iterations) {
    arrays_.check(params.at("check_rounds").get<int>());
    arrays_.fill();
  }

  Measurement measure() override {
    Measurement measurement;
    Json repetitions = Json::object();
    for (const Kernel& kernel : kKernels) {
      const auto count = iterations_.at(kernel.name).get<std::int64_t>();
      const auto seconds = arrays_.time(kernel.kernel, count, kRepetitions);
      measurement.values.emplace_back(bytes_of(kernel) * static_cast<double>(count) /
                                      median(seconds));
      repetitions[kernel.name] = seconds;
    }
    arrays_.check_sums();
    measurement.detail = detail();
    measurement.detail["repetition_s"] = std::move(repetitions);
    add_numa(measurement);
    return measurement;
  }

  Json iterations_for_seconds(double seconds) {
    Json iterations = Json::object();
    for (const Kernel& kernel : kKernels) {
      const double once = median(arrays_.time(kernel.kernel, 1, kRepetitions));
      iterations[kernel.name] =
          std::max<std::int64_t>(1, std::llround(seconds / kRepetitions / once));
    }
    return iterations;
  }

  std::size_t array_bytes() const { return arrays_.array_bytes(); }

 private:
  static MemoryArrays fitting(const Json& params, std::size_t array_bytes,
                              const MachineTopology& topology) {
    require_room(3 * static_cast<double>(array_bytes), params.at("max_share").get<double>(),
                 HostFiles());
    return MemoryArrays(topology, array_bytes);
  }

  double bytes_of(const Kernel& kernel) const {
    return static_cast<double>(arrays_.array_bytes()) * kernel.arrays;
  }

  Json detail() const {
    const auto last_cache = topology_.last_cache_bytes();
    Json detail{{"array_bytes", arrays_.array_bytes()},
                {"last_cache_bytes", last_cache},
                {"threads", arrays_.threads()},
                {"numa_nodes", topology_.numa_nodes().size()}};
    const auto rollup = HostFiles().read_text("/proc/self/smaps_rollup");
    const auto huge = field_bytes(rollup.value_or(""), "AnonHugePages");
    detail["huge_page_share"] =
        huge ? Json(std::min(1.0, static_cast<double>(*huge) /
                                      (3 * static_cast<double>(arrays_.array_bytes()))))
             : Json();
    const auto misplaced = arrays_.misplaced_share();
    detail["misplaced_page_share"] = misplaced ? Json(*misplaced) : Json();
    return detail;
  }

  // Where there is one NUMA node, near is what `read` says already and far does not exist.
  void add_numa(Measurement& measurement) {
    const std::size_t nodes = topology_.numa_nodes().size();
    std::optional<double> near;
    std::optional<double> far;
    Json matrix = Json::array();
    for (std::size_t reader = 0; nodes > 1 && reader < nodes; ++reader) {
      Json row = Json::array();
      for (std::size_t owner = 0; owner < nodes; ++owner) {
        const double rate = rate_across(reader, owner);
        auto& slowest = reader == owner ? near : far;
        slowest = std::min(slowest.value_or(rate), rate);
        row.push_back(std::round(rate));
      }
      matrix.push_back(std::move(row));
    }
    measurement.values.insert(measurement.values.end(), {near, far});
    if (nodes > 1) {
      measurement.detail["reader_owner_bytes_per_s"] = std::move(matrix);
    }
  }

  double rate_across(std::size_t reader, std::size_t owner) {
    const auto seconds = arrays_.time_read_across(reader, owner, kPairRepetitions);
    return static_cast<double>(arrays_.region_bytes(owner)) / median(seconds);
  }

  MachineTopology topology_;
  MemoryArrays arrays_;
  Json iterations_;
};

class HostMemory : public Probe {
 public:
  ProbeInfo info() const override {
    return {.name = "host_memory",
            .summary =
                "memory bandwidth of all cores (STREAM's copy and triad, read), and of NUMA "
                "nodes near and far",
            .layer = Layer::host,
            .participants = Participants::node,
            .params_schema = params_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& /*params*/) const override {
    return {
        metric("copy", "copy of an array to another, 2 arrays counted as STREAM does, all cores"),
        metric("triad", "a = b + s·c over arrays, 3 arrays counted as STREAM does, all cores"),
        metric("read", "reading of an array, all cores"),
        metric("near",
               "reading by the cores of one NUMA node of its own memory; the slowest "
               "node; absent where there is one NUMA node (see read)"),
        metric("far",
               "reading by the cores of one NUMA node of another's memory; the slowest "
               "pair; absent where there is one NUMA node")};
  }

  Json calibrate(const Json& params) const override {
    const auto array_bytes = wanted_array_bytes(params, MachineTopology());
    PreparedMemory memory(params, array_bytes, Json::object());
    return {{"array_bytes", memory.array_bytes()},
            {"iterations", memory.iterations_for_seconds(params.at("seconds").get<double>())}};
  }

  // A node with larger caches than the calibrating one needs larger arrays: on the same ones it
  // would measure its cache. Rates do not depend on the size beyond that.
  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    const std::size_t array_bytes = std::max(work.at("array_bytes").get<std::size_t>(),
                                             wanted_array_bytes(params, MachineTopology()));
    return std::make_unique<PreparedMemory>(params, array_bytes, work.at("iterations"));
  }

 private:
  static Json params_schema() {
    return Json::parse(R"({
      "type": "object", "additionalProperties": false,
      "properties": {
        "times_cache": {
          "description": "size of each of the three arrays, in sums of the last-level caches of all usable cores; 4 is STREAM's rule",
          "type": "number", "minimum": 0, "maximum": 64, "default": 4
        },
        "min_bytes": {
          "description": "each array has at least this size, also where no cache is known",
          "type": "integer", "minimum": 65536, "maximum": 1099511627776, "default": 67108864
        },
        "max_share": {
          "description": "the three arrays take at most this share of the memory of the machine or control group, else nothing is measured",
          "type": "number", "exclusiveMinimum": 0, "maximum": 0.9, "default": 0.5
        },
        "check_rounds": {
          "description": "how often all of the arrays is written and read back with a pattern and its complement before anything is timed",
          "type": "integer", "minimum": 1, "maximum": 1000, "default": 1
        },
        "seconds": {
          "description": "how long a measurement takes for each of copy, triad and read on the calibrating node, one pass over the arrays in each of 5 repetitions at least",
          "type": "number", "minimum": 0.001, "maximum": 3600, "default": 0.1
        }
      }
    })");
  }

  static MetricInfo metric(const std::string& name, const std::string& description) {
    return {
        .name = name,
        .unit = "B/s",
        .better = Better::higher,
        .layer = Layer::host,
        .subject = SubjectKind::node,
        .description = description,
        .next_check =
            "compare with a healthy node: number, speed and slots of memory modules "
            "(`dmidecode -t memory`: a missing or slower one takes a channel), corrected errors "
            "(`ras-mc-ctl --error-count`), NUMA settings (`numactl -H`, nodes per socket in the "
            "BIOS), memory clock and power settings, other processes (`top`)"};
  }
};

}  // namespace

std::unique_ptr<Probe> make_host_memory() { return std::make_unique<HostMemory>(); }

}  // namespace fleetbench
