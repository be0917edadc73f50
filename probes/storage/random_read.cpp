// Random reads of 4 KiB past the cache, many under way: what a loader of single samples does to a
// disk. libaio keeps them under way from one thread. Where fio has no libaio the whole fleet can be
// measured with psync, a thread for each request under way: that must be said ("engine"), since a
// node that fell back by itself would do other work than its peers.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "probes/storage/data_files.hpp"
#include "probes/storage/fio_measurement.hpp"

namespace fleetbench {
namespace {

constexpr double kBlock_bytes = 4096;
constexpr std::array<double, 3> kPercentiles = {50, 99, 99.9};

class RandomRead : public Profile {
 public:
  explicit RandomRead(const Json& params)
      : engine_(params.at("engine").get<std::string>()),
        depth_(params.at("queue_depth").get<int>()),
        repetitions_(params.at("repetitions").get<int>()),
        operations_(params.at("random_operations").get<std::uint64_t>()),
        file_bytes_(params.at("random_bytes").get<std::uint64_t>() / 4096 * 4096) {}

  std::string name() const override { return "random_read"; }
  bool needs_direct_io() const override { return true; }

  std::vector<MetricInfo> metrics() const override {
    std::vector<MetricInfo> all = {storage_metric(
        "random_read.iops", "op/s", Better::higher, true,
        fmt::format("random reads of 4 KiB, direct, {} under way ({})", depth_, engine_),
        "as sequential.read; where that is well, IOPS limits of the volume, write-back of others "
        "(`iostat -x 1`), interrupts on one CPU (/proc/interrupts)")};
    for (const double percentile : kPercentiles) {
      std::string text = fmt::format("{:g}", percentile);
      std::replace(text.begin(), text.end(), '.', '_');
      all.push_back(storage_metric(
          "random_read.p" + text, "s", Better::lower, false,
          fmt::format("{:g}th percentile of the time from submitting a read to its end",
                      percentile),
          "other users of the disk (`iostat -x 1`); a long tail alone: garbage collection or sick "
          "cells (`nvme smart-log`)"));
    }
    for (MetricInfo& metric : disk_metrics("random_read")) {
      all.push_back(std::move(metric));
    }
    return all;
  }

  IoDemand demand() const override {
    const double operations = repetitions_ * static_cast<double>(job_operations() * jobs());
    return {.disk_bytes = static_cast<double>(file_bytes_),
            .operations = operations,
            .bytes = operations * kBlock_bytes};
  }

  void lay_out(const Site& site) override {
    write_data_file(site.folder / "random", file_bytes_, 101);
  }

  Outcome measure(const Site& site) override {
    std::vector<FioSection> sections;
    for (int i = 0; i < repetitions_; ++i) {
      sections.push_back({repetition_name(name(), i), options()});
    }
    const auto measured = measure_with_fio(site, name(), repetitions_, "read", sections);
    Outcome outcome{.values = {measured.operations_per_s()},
                    .detail = detail_of(measured, direct_limit(measured, kBlock_bytes, depth_))};
    outcome.detail["engine"] = engine_;
    for (const double percentile : kPercentiles) {
      outcome.values.push_back(measured.clat_s(percentile));
    }
    for (const auto& value : disk_values(measured)) {
      outcome.values.push_back(value);
    }
    return outcome;
  }

 private:
  bool by_threads() const { return engine_ == "psync"; }
  std::uint64_t jobs() const { return by_threads() ? static_cast<std::uint64_t>(depth_) : 1; }
  std::uint64_t job_operations() const { return std::max<std::uint64_t>(1, operations_ / jobs()); }

  // The seed of the offsets is fixed (randrepeat is fio's default), so all nodes read the same
  // ones.
  std::vector<std::string> options() const {
    return {"--filename=random",
            "--rw=randread",
            "--bs=4k",
            "--direct=1",
            fmt::format("--size={}", file_bytes_),
            fmt::format("--io_size={}", job_operations() * 4096),
            fmt::format("--ioengine={}", engine_),
            fmt::format("--iodepth={}", by_threads() ? 1 : depth_),
            fmt::format("--numjobs={}", jobs()),
            "--percentile_list=50:99:99.9"};
  }

  std::string engine_;
  int depth_;
  int repetitions_;
  std::uint64_t operations_;
  std::uint64_t file_bytes_;
};

}  // namespace

std::unique_ptr<Profile> make_random_read(const Json& params) {
  return std::make_unique<RandomRead>(params);
}

}  // namespace fleetbench
