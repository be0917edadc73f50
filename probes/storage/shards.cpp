// The pattern of a loader of shards (WebDataset, tar files, TFRecord): several readers, each reads
// whole shards one after another in shuffled order, through the cache, in blocks of 256 KiB. Cold:
// the kernel was asked to forget the shards; warm: they were read just before.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "probes/storage/data_files.hpp"
#include "probes/storage/fio_measurement.hpp"
#include "probes/support/fact.hpp"

namespace fleetbench {
namespace {

constexpr double kBlock_bytes = 256 << 10;

class Shards : public Profile {
 public:
  explicit Shards(const Json& params)
      : readers_(params.at("shard_readers").get<int>()),
        repetitions_(params.at("repetitions").get<int>()),
        // As many for every reader, so that all end at the same time.
        shards_((params.at("shards").get<int>() + readers_ - 1) / readers_ * readers_),
        shard_bytes_(params.at("shard_bytes").get<std::uint64_t>() >> 18U << 18U) {}

  std::string name() const override { return "shards"; }

  std::vector<MetricInfo> metrics() const override {
    const auto text =
        fmt::format("{} readers of whole shards, buffered, blocks of 256 KiB", readers_);
    return {
        storage_metric("shards.cold", "B/s", Better::higher, true, text + ", not in memory",
                       "as sequential.read; where that is well, read-ahead "
                       "(/sys/block/*/queue/read_ahead_kb) and CPU"),
        storage_metric("shards.warm", "B/s", Better::higher, false, text + ", in memory",
                       "memory and CPU of the node (cpu_gemm, host memory), a memory limit that "
                       "leaves no cache (cgroup memory.max)"),
        disk_metrics("shards.cold")[0], disk_metrics("shards.cold")[1]};
  }

  IoDemand demand() const override {
    const double bytes = shards_ * static_cast<double>(shard_bytes_);
    return {.disk_bytes = bytes,
            .operations = repetitions_ * 2 * bytes / kBlock_bytes,
            .bytes = repetitions_ * 2 * bytes};
  }

  void lay_out(const Site& site) override {
    for (int i = 0; i < shards_; ++i) {
      write_data_file(site.folder / shard(i), shard_bytes_, 1000 + static_cast<std::uint64_t>(i));
    }
  }

  Outcome measure(const Site& site) override {
    bool forgotten = true;
    for (int i = 0; i < shards_; ++i) {
      forgotten = drop_from_cache(site.folder / shard(i)) && forgotten;
    }
    Outcome outcome{.values = Values(4)};
    if (forgotten) {
      const auto cold = measure_job(site, "cold");
      outcome.values = {cold.bytes_per_s(), std::nullopt, disk_values(cold)[0],
                        disk_values(cold)[1]};
      outcome.detail["cold"] = detail_of(cold, limit_of(cold));
    } else {
      outcome.detail["cold"] = {
          {"reason", site.volume.fs_type + " keeps files in memory when asked to forget them"}};
    }
    const auto warm = measure_job(site, "warm");
    outcome.values[1] = warm.bytes_per_s();
    // It comes from memory: no limit of storage.
    outcome.detail["warm"] = detail_of(warm, {IoLimit::unknown, "read from memory"});
    outcome.detail["warm"]["in_memory"] = fact(cached_share(site.folder / shard(0)));
    return outcome;
  }

 private:
  static std::string shard(int index) { return fmt::format("shard.{}", index); }

  // The same order on every node.
  std::vector<int> shuffled(int seed) const {
    std::vector<int> order(static_cast<std::size_t>(shards_));
    for (int i = 0; i < shards_; ++i) {
      order[static_cast<std::size_t>(i)] = i;
    }
    std::minstd_rand generator(static_cast<unsigned>(seed) + 1);
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      std::swap(order[i], order[generator() % (i + 1)]);
    }
    return order;
  }

  FioMeasurement measure_job(const Site& site, const std::string& job) const {
    std::vector<FioSection> sections;
    for (int repetition = 0; repetition < repetitions_; ++repetition) {
      const auto order = shuffled(repetition);
      for (int reader = 0; reader < readers_; ++reader) {
        sections.push_back({repetition_name(job, repetition), reader_options(order, reader, job)});
      }
    }
    return measure_with_fio(site, job, repetitions_, "read", sections);
  }

  std::vector<std::string> reader_options(const std::vector<int>& order, int reader,
                                          const std::string& job) const {
    const int share = shards_ / readers_;
    std::string names;
    for (int i = reader * share; i < (reader + 1) * share; ++i) {
      names += (names.empty() ? "" : ":") + shard(order[static_cast<std::size_t>(i)]);
    }
    return {"--filename=" + names, "--file_service_type=sequential", "--rw=read", "--bs=256k",
            fmt::format("--size={}", static_cast<std::uint64_t>(share) * shard_bytes_),
            "--direct=0", "--ioengine=psync",
            // Has the kernel forget a file when it is opened.
            fmt::format("--invalidate={}", job == "cold" ? 1 : 0)};
  }

  // A reader asks for one block after another, but the kernel reads ahead of it: how many requests
  // are under way is the disk's queue, and their size is what reached the disk.
  IoVerdict limit_of(const FioMeasurement& cold) const {
    if (!cold.disk || !cold.disk->r_request_bytes) {
      return {IoLimit::unknown, "read-ahead hides how the device was asked"};
    }
    return io_limit({.block_bytes = *cold.disk->r_request_bytes,
                     .depth = std::max(1.0, cold.disk->queue),
                     .rate_per_s = cold.disk->r_per_s,
                     .request_bytes = cold.disk->r_request_bytes,
                     .busy = cold.disk->busy,
                     .disk_queue = cold.disk->queue});
  }

  int readers_;
  int repetitions_;
  int shards_;
  std::uint64_t shard_bytes_;
};

}  // namespace

std::unique_ptr<Profile> make_shards(const Json& params) {
  return std::make_unique<Shards>(params);
}

}  // namespace fleetbench
