// Does `storage` report what fio by hand does?
//
// storage_bench [SECONDS [FOLDER]]: at most so long, ten minutes where nothing is said. See
// ab_bench.hpp; the plain program is fio by hand with the same options, on files of its own of the
// same size. The bench reads fio's JSON with a JSON library and nothing of the probe's. Disks are
// shared more often than cores, and some are throttled in bursts: turns are short.
// Exit code: 0 all within 3 %, 2 one is not, 3 a control never held.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "probes/registry.hpp"
#include "probes/support/median.hpp"
#include "probes/support/program.hpp"
#include "probes/support/scratch.hpp"
#include "results-schema/check.hpp"
#include "tests/bench/ab_bench.hpp"

namespace fleetbench {
namespace {

constexpr int kRepetitions = 1;  // short turns: those compared are near each other in time

// What is measured, by the probe and by hand.
struct Job {
  std::string metric;
  std::string key;  // of fio's JSON
  Json params;
  std::vector<std::string> options;  // of fio
};

std::vector<Job> jobs() {
  return {{"sequential.read",
           "bw_bytes",
           {{"profiles", {"sequential"}}, {"sequential_bytes", 134217728}},
           {"--numjobs=4", "--filename_format=hand.$jobnum", "--rw=read", "--bs=1m",
            "--size=33554432", "--direct=1", "--ioengine=psync"}},
          {"random_read.iops",
           "iops",
           {{"profiles", {"random_read"}}, {"random_bytes", 67108864}, {"random_operations", 4000}},
           {"--filename=hand.random", "--rw=randread", "--bs=4k", "--direct=1", "--size=67108864",
            "--io_size=16384000", "--ioengine=libaio", "--iodepth=32"}}};
}

double by_hand(const Job& job, const Scratch& scratch) {
  std::vector<std::string> command = {"fio", "--output-format=json", "--eta=never",
                                      "--disk_util=0"};
  for (int i = 0; i < kRepetitions; ++i) {
    command.push_back(fmt::format("--name=r{}", i));
    command.insert(command.end(), {"--stonewall", "--thread=1", "--group_reporting=1"});
    command.insert(command.end(), job.options.begin(), job.options.end());
  }
  const auto end = run_program(command, {.folder = scratch.path().string()});
  if (!end.ok()) {
    throw std::runtime_error("fio " + end.how());
  }
  std::vector<double> values;
  const Json output = Json::parse(end.output);
  for (const Json& one : output.at("jobs")) {
    values.push_back(one.at("read").at(job.key).get<double>());
  }
  return median(values);
}

// Each has files of its own, which lie where the file system had room: new ones for each turn, for
// some places of a disk are faster than others.
PreparedFigures hand(const std::vector<Job>& jobs, const std::string& folder) {
  const auto scratch = std::make_shared<Scratch>(folder);
  const auto measure = [jobs, scratch] {
    std::vector<double> figures;
    for (const Job& job : jobs) {
      figures.push_back(by_hand(job, *scratch));
    }
    return figures;
  };
  measure();  // lays out the files
  return measure;
}

PreparedFigures probe(const std::vector<Job>& jobs, const std::string& folder) {
  std::vector<std::shared_ptr<Prepared>> prepared;
  const auto storage = make_storage();
  for (const Job& job : jobs) {
    Json params = job.params;
    params["directory"] = folder;
    params["repetitions"] = kRepetitions;
    params = with_defaults(params, storage->info().params_schema);
    prepared.push_back(storage->prepare(params, storage->calibrate(params)));
  }
  const auto measure = [prepared] {
    std::vector<double> figures;
    for (const auto& one : prepared) {
      figures.push_back(one->measure().values.at(0).value());
    }
    return figures;
  };
  measure();  // as often as by hand: what was just written is read differently the first time
  return measure;
}

int run(double seconds, const std::string& folder) {
  const std::vector<Job> compared = jobs();
  std::vector<std::string> names;
  for (const Job& job : compared) {
    names.push_back(job.metric);
  }
  constexpr std::size_t kRounds = 1;
  return compare_side_by_side(
      "storage", "B/s, op/s", seconds, names, [&] { return hand(compared, folder); },
      [&] { return probe(compared, folder); }, kRounds);
}

}  // namespace
}  // namespace fleetbench

int main(int argc, char** argv) {
  try {
    return fleetbench::run(argc > 1 ? std::atof(argv[1]) : 600, argc > 2 ? argv[2] : "/var/tmp");
  } catch (const std::exception& error) {
    fmt::print(stderr, "storage_bench: {}\n", error.what());
    return 1;
  }
}
