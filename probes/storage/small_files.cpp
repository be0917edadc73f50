// Create, stat, list, read and delete thousands of small files from several threads. Own loops:
// fio has engines for create, stat and delete (filecreate, filestat, filedelete), none for listing
// a folder or for open-read-close of each file once, and its start-up cannot be told from an
// engine's short run; the five kinds are to be measured alike.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>

#include "probes/probe.hpp"
#include "probes/storage/data_files.hpp"
#include "probes/storage/file_tree.hpp"
#include "probes/storage/fio_measurement.hpp"
#include "probes/storage/limit.hpp"
#include "probes/support/fact.hpp"
#include "probes/support/median.hpp"
#include "probes/support/team_time.hpp"

namespace fleetbench {
namespace {

using Work = std::function<void(const FileTree&)>;

enum Phase : std::size_t { kCreate, kStat, kList, kRead, kDelete, kPhases };
constexpr std::array<const char*, kPhases> kPhaseNames = {"create", "stat", "list", "read",
                                                          "delete"};
// To be ranked a figure must be of storage and steady: a stat and a list of names that are in
// memory are a measure of the CPU.
constexpr std::array<bool, kPhases> kJudged = {true, false, false, true, false};
constexpr std::array<const char*, kPhases> kWhat = {
    "files created, each with open, write and close",
    "files asked for by stat, their names in memory on a local file system",
    "names listed by readdir", "files opened, read and closed, their contents not in memory",
    "files deleted"};

class SmallFiles : public Profile {
 public:
  explicit SmallFiles(const Json& params)
      : files_(params.at("small_files").get<std::uint32_t>()),
        bytes_(params.at("small_file_bytes").get<std::uint64_t>()),
        threads_(params.at("small_file_threads").get<std::uint32_t>()),
        files_per_folder_(params.at("files_per_folder").get<std::uint32_t>()),
        repetitions_(params.at("repetitions").get<int>()) {}

  std::string name() const override { return "small_files"; }
  bool needs_fio() const override { return false; }

  std::vector<MetricInfo> metrics() const override {
    std::vector<MetricInfo> all;
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      all.push_back(storage_metric(
          fmt::format("small_files.{}", kPhaseNames[phase]), "op/s", Better::higher, kJudged[phase],
          fmt::format("{}; {} threads", kWhat[phase], threads_),
          "on a network file system its metadata server and round trip (`nfsiostat`, detail.nfs); "
          "on a local one CPU (cpu_gemm), a full journal or file system (`df -i`), other writers "
          "(`iotop`)"));
    }
    return all;
  }

  IoDemand demand() const override {
    const double files = files_;
    return {.disk_bytes = files * static_cast<double>(std::max<std::uint64_t>(bytes_, 4096)),
            .operations = repetitions_ * files * static_cast<double>(kPhases),
            .bytes = repetitions_ * files * 2 * static_cast<double>(bytes_)};
  }

  void lay_out(const Site& site) override {
    spread_folders(site.folder);
    // Where ext4 puts a folder follows from its name: a new one in every slot, as the scratch has.
    for (int repetition = 0; repetition < repetitions_; ++repetition) {
      const auto stem = fmt::format("{}.{}", site.folder.filename().string(), repetition);
      trees_.push_back(make_trees(site.folder / stem, files_, threads_, files_per_folder_));
    }
    team_ = std::make_unique<ThreadTeam>(static_cast<int>(trees_.front().size()));
  }

  Outcome measure(const Site& /*site*/) override {
    std::array<std::vector<double>, kPhases> seconds;
    for (int repetition = 0; repetition < repetitions_; ++repetition) {
      const auto round = one_round(trees_[static_cast<std::size_t>(repetition)]);
      for (std::size_t phase = 0; phase < kPhases; ++phase) {
        seconds[phase].push_back(round[phase]);
      }
    }
    Outcome outcome;
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      outcome.values.emplace_back(files_ / median(seconds[phase]));
      outcome.detail["seconds"][kPhaseNames[phase]] = seconds[phase];
    }
    outcome.read_bytes_per_s = *outcome.values[kRead] * static_cast<double>(bytes_);
    outcome.detail["read_bytes_per_s"] = *outcome.read_bytes_per_s;
    outcome.detail["in_memory_before_read"] = fact(in_memory_);
    return outcome;
  }

 private:
  // Seconds from the first thread's start to the last one's end.
  double seconds_of(const std::vector<FileTree>& trees, const Work& work) {
    return time_together(*team_, 1,
                         [&](int thread) { work(trees[static_cast<std::size_t>(thread)]); })
        .front();
  }

  std::array<double, kPhases> one_round(const std::vector<FileTree>& trees) {
    std::array<double, kPhases> seconds{};
    seconds_of(trees, make_folders);
    seconds[kCreate] = seconds_of(trees, [&](const FileTree& tree) { create_files(tree, bytes_); });
    seconds_of(trees, forget_contents);
    in_memory_ = cached_share(trees.front().files.front());
    seconds[kStat] = seconds_of(trees, stat_files);
    seconds[kList] = seconds_of(trees, [](const FileTree& tree) {
      if (const auto names = list_folders(tree); names != tree.files.size()) {
        throw WrongResult(fmt::format("{} names in folders to which {} files were written", names,
                                      tree.files.size()));
      }
    });
    seconds[kRead] = seconds_of(trees, [&](const FileTree& tree) { read_files(tree, bytes_); });
    seconds[kDelete] = seconds_of(trees, delete_files);
    seconds_of(trees, delete_folders);
    return seconds;
  }

  std::uint32_t files_;
  std::uint64_t bytes_;
  std::uint32_t threads_;
  std::uint32_t files_per_folder_;
  int repetitions_;
  std::vector<std::vector<FileTree>> trees_;  // of each repetition
  std::unique_ptr<ThreadTeam> team_;          // a thread for each tree of a repetition
  std::optional<double> in_memory_;           // share of the first file just before it is read
};

}  // namespace

std::unique_ptr<Profile> make_small_files(const Json& params) {
  return std::make_unique<SmallFiles>(params);
}

}  // namespace fleetbench
