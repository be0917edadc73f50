// Several readers of a big file each, past the cache, in large blocks. Large direct blocks cost
// hardly any CPU, so a node whose CPU is slow keeps its figure, and a slow one has a slow disk.
// psync: every fio and every machine has it, and a reader a thread keeps the queue as deep as there
// are readers.
#include <fmt/format.h>

#include <algorithm>

#include "probes/storage/data_files.hpp"
#include "probes/storage/fio_measurement.hpp"

namespace fleetbench {
namespace {

constexpr double kBlock_bytes = 1 << 20;

class Sequential : public Profile {
 public:
  explicit Sequential(const Json& params)
      : readers_(params.at("sequential_readers").get<int>()),
        repetitions_(params.at("repetitions").get<int>()),
        reader_bytes_(whole_blocks(params.at("sequential_bytes").get<double>() / readers_)) {}

  std::string name() const override { return "sequential"; }
  bool needs_direct_io() const override { return true; }

  std::vector<MetricInfo> metrics() const override {
    std::vector<MetricInfo> all = {storage_metric(
        "sequential.read", "B/s", Better::higher, true,
        fmt::format("{} readers of a big file each, direct, blocks of 1 MiB (fio)", readers_),
        "disk health (`nvme smart-log`, `smartctl -a`), link of the disk (`lspci -vv`), a throttle "
        "(cgroup io.max, cloud volume limits), other users of the disk (`iostat -x 1`)")};
    all.front().free_of_host = true;
    for (MetricInfo& metric : disk_metrics("sequential")) {
      all.push_back(std::move(metric));
    }
    return all;
  }

  IoDemand demand() const override {
    const double file_bytes = readers_ * static_cast<double>(reader_bytes_);
    return {.disk_bytes = file_bytes,
            .operations = repetitions_ * file_bytes / kBlock_bytes,
            .bytes = repetitions_ * file_bytes};
  }

  void lay_out(const Site& site) override {
    for (int reader = 0; reader < readers_; ++reader) {
      write_data_file(site.folder / fmt::format("big.{}", reader), reader_bytes_,
                      static_cast<std::uint64_t>(reader) + 1);
    }
  }

  Outcome measure(const Site& site) override {
    std::vector<FioSection> sections;
    for (int i = 0; i < repetitions_; ++i) {
      sections.push_back(
          {repetition_name(name(), i),
           {"--filename_format=big.$jobnum", fmt::format("--numjobs={}", readers_), "--rw=read",
            "--bs=1m", fmt::format("--size={}", reader_bytes_), "--direct=1", "--ioengine=psync"}});
    }
    const auto measured = measure_with_fio(site, name(), repetitions_, "read", sections);
    Outcome outcome{.values = {measured.bytes_per_s()},
                    .detail = detail_of(measured, direct_limit(measured, kBlock_bytes, readers_)),
                    .read_bytes_per_s = measured.bytes_per_s()};
    for (const auto& value : disk_values(measured)) {
      outcome.values.push_back(value);
    }
    return outcome;
  }

 private:
  static std::uint64_t whole_blocks(double bytes) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes / kBlock_bytes)) *
           static_cast<std::uint64_t>(kBlock_bytes);
  }

  int readers_;
  int repetitions_;
  std::uint64_t reader_bytes_;
};

}  // namespace

std::unique_ptr<Profile> make_sequential(const Json& params) {
  return std::make_unique<Sequential>(params);
}

}  // namespace fleetbench
