// One large file written in blocks of 1 MiB and synced at its end, as a checkpoint is. The sync is
// inside the time. Not preallocated: those who write checkpoints do not know their size.
//
// fio fills its buffers with random data and changes every 512 bytes of them for each block, so no
// device can compress or deduplicate them; filling them anew each time (refill_buffers) would put
// the cost of making random numbers inside the time.
#include <fmt/format.h>

#include <algorithm>

#include "probes/storage/fio_measurement.hpp"

namespace fleetbench {
namespace {

constexpr double kBlock_bytes = 1 << 20;

class Checkpoint : public Profile {
 public:
  explicit Checkpoint(const Json& params)
      : repetitions_(params.at("repetitions").get<int>()),
        bytes_(params.at("checkpoint_bytes").get<std::uint64_t>() >> 20U << 20U) {}

  std::string name() const override { return "checkpoint"; }

  std::vector<MetricInfo> metrics() const override {
    return {
        storage_metric("checkpoint.write", "B/s", Better::higher, true,
                       "one file written in blocks of 1 MiB and synced (fio)",
                       "disk health and fill level (`nvme smart-log`, `df`), a worn or full SSD "
                       "writes slowly, other writers (`iotop`), dirty limits "
                       "(/proc/sys/vm/dirty_*)"),
        storage_metric("checkpoint.fsync", "s", Better::lower, false,
                       "time of the sync at the end, the writes apart",
                       "as checkpoint.write; write cache of the disk (`hdparm -W`)")};
  }

  IoDemand demand() const override {
    const auto bytes = static_cast<double>(bytes_);
    return {.disk_bytes = bytes,
            .operations = repetitions_ * (bytes / kBlock_bytes + 1),
            .bytes = repetitions_ * bytes};
  }

  void lay_out(const Site&) override {}

  Outcome measure(const Site& site) override {
    std::vector<FioSection> sections;
    for (int i = 0; i < repetitions_; ++i) {
      sections.push_back(
          {repetition_name(name(), i),
           {fmt::format("--filename=checkpoint.{}", i), "--rw=write", "--bs=1m",
            fmt::format("--size={}", bytes_), "--direct=0", "--ioengine=psync", "--fallocate=none",
            "--scramble_buffers=1", "--end_fsync=1", "--unlink=1"}});
    }
    const auto measured = measure_with_fio(site, name(), repetitions_, "write", sections);
    return {.values = {measured.bytes_per_s(), fsync_s(measured)},
            .detail = detail_of(measured, limit_of(measured))};
  }

 private:
  // fio does not list the sync at the end. What of the run is not spent in writing is that, and at
  // most some hundredths of the writing for preparing buffers.
  static std::optional<double> fsync_s(const FioMeasurement& measured) {
    if (!measured.latency_s()) {
      return std::nullopt;
    }
    const double writing_s = *measured.latency_s() * measured.bytes() / kBlock_bytes;
    return std::max(0.0, measured.runtime_s() - writing_s);
  }

  // Writes go to the cache; what the disk was asked tells, where there is a disk.
  static IoVerdict limit_of(const FioMeasurement& measured) {
    if (!measured.disk || !measured.disk->w_request_bytes) {
      return {IoLimit::unknown, "the cache hides how the device was asked"};
    }
    return io_limit({.block_bytes = *measured.disk->w_request_bytes,
                     .depth = std::max(1.0, measured.disk->queue),
                     .rate_per_s = measured.disk->w_per_s,
                     .request_bytes = measured.disk->w_request_bytes,
                     .busy = measured.disk->busy,
                     .disk_queue = measured.disk->queue});
  }

  int repetitions_;
  std::uint64_t bytes_;
};

}  // namespace

std::unique_ptr<Profile> make_checkpoint(const Json& params) {
  return std::make_unique<Checkpoint>(params);
}

}  // namespace fleetbench
