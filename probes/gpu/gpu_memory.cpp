// Bandwidth of a GPU's memory, by kernels of our own as STREAM has them.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "probes/gpu/pattern.hpp"
#include "probes/gpu/registry.hpp"
#include "probes/support/median.hpp"

namespace fleetbench::gpu {
namespace {

// Odd counts have a median that was measured; five let one disturbance pass without a trace.
constexpr int kRepetitions = 5;
constexpr std::size_t kVector_bytes = 16;
constexpr std::uint32_t kSeed = 0xBEEF;
// Of triad: a = b + 3 · c, with b = 1 and c = 2.
constexpr float kFactor = 3;
constexpr std::uint32_t kOne = 0x3F800000;
constexpr std::uint32_t kTwo = 0x40000000;
constexpr std::uint32_t kSeven = 0x40E00000;

enum class Which { read, write, copy, triad };

struct Kernel {
  Which which;
  const char* name;
  int arrays;  // that STREAM counts: those read and those written
};
constexpr Kernel kCopy{Which::copy, "copy", 2};
constexpr Kernel kTriad{Which::triad, "triad", 3};
constexpr std::array<Kernel, 4> kKernels{
    {{Which::read, "read", 1}, {Which::write, "write", 1}, kCopy, kTriad}};

// Bytes of one array: several times the last cache, which would answer in memory's place.
std::size_t array_bytes(const Json& params, const GpuInfo& info) {
  const double by_cache = params.at("times_l2").get<double>() * static_cast<double>(info.l2_bytes);
  const double wanted = std::max(by_cache, params.at("min_bytes").get<double>());
  return static_cast<std::size_t>(std::ceil(wanted / kVector_bytes)) * kVector_bytes;
}

class Arrays {
 public:
  Arrays(const Gpu& gpu, std::size_t bytes)
      : gpu_(gpu),
        grid_(full_grid(gpu.info())),
        count_(bytes / kVector_bytes),
        pattern_(gpu),
        a_(gpu, bytes),
        b_(gpu, bytes),
        c_(gpu, bytes),
        sink_(gpu, sizeof(std::uint32_t)),
        stream_(gpu),
        begin_(gpu),
        end_(gpu) {
    check_copy();
    check_triad();
  }

  std::size_t bytes() const { return a_.bytes(); }

  // Seconds of each repetition of so many launches.
  std::vector<double> time(const Kernel& kernel, std::int64_t launches) {
    launch(kernel);
    std::vector<double> seconds;
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      gpu_.check(cudaEventRecord(begin_.get(), stream_.get()), "cudaEventRecord");
      for (std::int64_t i = 0; i < launches; ++i) {
        launch(kernel);
      }
      gpu_.check(cudaEventRecord(end_.get(), stream_.get()), "cudaEventRecord");
      gpu_.check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
      seconds.push_back(seconds_between(gpu_, begin_, end_));
    }
    return seconds;
  }

 private:
  void launch(const Kernel& kernel) {
    const auto launched = [&] {
      switch (kernel.which) {
        case Which::read:
          return launch_read(a_.get(), count_, sink_.as<std::uint32_t>(), grid_, stream_.get());
        case Which::write:
          return launch_write(a_.get(), count_, kSeven, grid_, stream_.get());
        case Which::copy:
          return launch_copy(b_.get(), a_.get(), count_, grid_, stream_.get());
        case Which::triad:
          return launch_triad(a_.get(), b_.get(), c_.get(), kFactor, count_, grid_, stream_.get());
      }
      return cudaErrorInvalidValue;
    };
    gpu_.check(launched(), kernel.name);
  }

  void check_copy() {
    pattern_.fill(a_.get(), bytes(), kSeed);
    launch(kCopy);
    gpu_.synchronize();
    require(pattern_.wrong_words(b_.get(), bytes(), kSeed) == 0, "copy");
  }

  // Against the same words written without reading.
  void check_triad() {
    write(a_, kSeven);
    const auto expected = pattern_.checksum(a_.get(), bytes());
    write(a_, 0);
    write(b_, kOne);
    write(c_, kTwo);
    launch(kTriad);
    gpu_.synchronize();
    require(pattern_.checksum(a_.get(), bytes()) == expected, "triad");
  }

  void write(DeviceMemory& array, std::uint32_t value) {
    gpu_.check(launch_write(array.get(), count_, value, grid_, stream_.get()),
               "launch of fleetbench_write");
    gpu_.synchronize();
  }

  void require(bool right, const char* kernel) const {
    if (!right) {
      throw WrongResult(
          fmt::format("{} over arrays of {} bytes is false on {}: its memory does not "
                      "keep what is written to it",
                      kernel, bytes(), gpu_.label()));
    }
  }

  const Gpu& gpu_;
  Grid grid_;
  std::uint64_t count_;
  Pattern pattern_;
  DeviceMemory a_;
  DeviceMemory b_;
  DeviceMemory c_;
  DeviceMemory sink_;
  Stream stream_;
  Event begin_;
  Event end_;
};

class PreparedMemory : public Prepared {
 public:
  PreparedMemory(const Gpu& gpu, std::size_t bytes, const Json& launches)
      : arrays_(gpu, bytes), launches_(launches) {}

  Measurement measure() override {
    Measurement measurement;
    for (const Kernel& kernel : kKernels) {
      const auto launches = launches_.at(kernel.name).get<std::int64_t>();
      const auto seconds = arrays_.time(kernel, launches);
      const double bytes = static_cast<double>(arrays_.bytes()) * kernel.arrays;
      measurement.values.emplace_back(bytes * static_cast<double>(launches) / median(seconds));
      measurement.detail["repetition_s"][kernel.name] = seconds;
    }
    measurement.detail["array_bytes"] = arrays_.bytes();
    return measurement;
  }

  Json launches_for_seconds(double seconds) {
    Json launches = Json::object();
    for (const Kernel& kernel : kKernels) {
      const double once = median(arrays_.time(kernel, 1));
      launches[kernel.name] =
          std::max<std::int64_t>(1, std::llround(seconds / kRepetitions / once));
    }
    return launches;
  }

 private:
  Arrays arrays_;
  Json launches_;
};

class GpuMemory : public Probe {
 public:
  explicit GpuMemory(const AssignedGpu& assigned) : assigned_(assigned) {}

  ProbeInfo info() const override {
    return {.name = "gpu_memory",
            .summary = "memory bandwidth of each GPU: read, write, copy, triad past its L2 cache",
            .layer = Layer::compute,
            .participants = Participants::node,
            .params_schema = params_schema()};
  }

  std::vector<MetricInfo> metrics(const Json& /*params*/) const override {
    return {metric("read", "reading of an array"), metric("write", "writing of an array"),
            metric("copy", "copy of an array to another, 2 arrays counted as STREAM does"),
            metric("triad", "a = b + s·c over arrays, 3 arrays counted as STREAM does")};
  }

  Json calibrate(const Json& params) const override {
    const Gpu& gpu = assigned_.select();
    PreparedMemory memory(gpu, array_bytes(params, gpu.info()), Json::object());
    return {{"launches", memory.launches_for_seconds(params.at("seconds").get<double>())}};
  }

  std::unique_ptr<Prepared> prepare(const Json& params, const Json& work) const override {
    const Gpu& gpu = assigned_.select();
    return std::make_unique<PreparedMemory>(gpu, array_bytes(params, gpu.info()),
                                            work.at("launches"));
  }

 private:
  static Json params_schema() {
    return Json::parse(R"({
      "type": "object", "additionalProperties": false,
      "properties": {
        "times_l2": {
          "description": "size of each of the three arrays, in L2 caches of the device",
          "type": "number", "minimum": 0, "maximum": 64, "default": 8
        },
        "min_bytes": {
          "description": "each array has at least this size",
          "type": "integer", "minimum": 65536, "maximum": 17179869184, "default": 268435456
        },
        "seconds": {
          "description": "how long a measurement takes for each of read, write, copy and triad on the calibrating device, one launch in each of 5 repetitions at least",
          "type": "number", "minimum": 0.000001, "maximum": 3600, "default": 0.1
        }
      }
    })");
  }

  static MetricInfo metric(const std::string& name, const std::string& description) {
    return {.name = name,
            .unit = "B/s",
            .better = Better::higher,
            .layer = Layer::compute,
            .subject = SubjectKind::device,
            .description = description,
            .next_check =
                "on the node: `nvidia-smi -q -d CLOCK,PERFORMANCE,ECC,ROW_REMAPPER,TEMPERATURE`: "
                "memory clock against its maximum, clock event reasons, corrected errors, remapped "
                "rows, temperature of the memory. Its kernels, on {node}: `{gpu}ncu "
                "--target-processes all --nvtx --nvtx-include gpu_memory/ --launch-count 20 -o "
                "gpu_memory {run}`"};
  }

  const AssignedGpu& assigned_;
};

}  // namespace

std::unique_ptr<Probe> make_gpu_memory(const AssignedGpu& assigned) {
  return std::make_unique<GpuMemory>(assigned);
}

}  // namespace fleetbench::gpu
