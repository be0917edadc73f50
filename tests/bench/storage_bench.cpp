// Does `storage` report what fio by hand does?
//
// storage_bench [SECONDS [FOLDER]]. In each turn fio by hand, the probe and fio by hand again, in
// an order that changes; the same options, the same sizes, each on files of its own of the same
// size. The bench reads fio's JSON with a JSON library and nothing of the probe's. Disks are shared
// more often than cores, and some are throttled in bursts: many short turns, and the figure of a
// turn is its ratio to its own neighbours. Turns are added until every control is within 2 %,
// SECONDS (600) at most; then the ratios are judged. Exit code: 0 all within 3 %, 2 one is not, 3 a
// control never held.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

#include "probes/registry.hpp"
#include "probes/support/median.hpp"
#include "probes/support/program.hpp"
#include "probes/support/scratch.hpp"
#include "results-schema/check.hpp"

namespace fleetbench {
namespace {

constexpr double kRatio = 0.03;
constexpr double kControl = 0.02;
constexpr std::size_t kFewestTurns = 20;
constexpr int kRepetitions = 1;  // short turns: those compared are near each other in time

using Clock = std::chrono::steady_clock;

// A disk that is throttled in bursts is faster for whoever comes first: everybody does.
constexpr std::array<std::array<std::size_t, 3>, 6> kOrders{
    {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}};

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

struct Figure {
  std::vector<double> probe;
  std::vector<double> ratios;
  std::vector<double> controls;

  void add(double first, double measured, double second) {
    probe.push_back(measured);
    ratios.push_back(measured / std::sqrt(first * second));
    controls.push_back(second / first);
  }
  bool control_holds() const {
    return controls.size() >= kFewestTurns && std::abs(median(controls) - 1) <= kControl;
  }
  bool ratio_holds() const { return std::abs(median(ratios) - 1) <= kRatio; }
};

// Both sides' files are laid out once; the probe's by the probe.
class Turns {
 public:
  Turns(Job job, const std::string& folder) : job_(std::move(job)), scratch_(folder) {
    job_.params["directory"] = folder;
    job_.params["repetitions"] = kRepetitions;
    const auto params = with_defaults(job_.params, probe_->info().params_schema);
    prepared_ = probe_->prepare(params, probe_->calibrate(params));
    by_hand(job_, scratch_);  // lays out its files
  }

  void add_one() {
    std::array<double, 3> values{};  // by hand, probe, by hand again
    for (const std::size_t which : kOrders[figure_.ratios.size() % kOrders.size()]) {
      values[which] =
          which == 1 ? prepared_->measure().values.at(0).value() : by_hand(job_, scratch_);
    }
    figure_.add(values[0], values[1], values[2]);
  }
  const Job& job() const { return job_; }
  const Figure& figure() const { return figure_; }

 private:
  Job job_;
  Scratch scratch_;
  std::unique_ptr<Probe> probe_ = make_storage();
  std::unique_ptr<Prepared> prepared_;
  Figure figure_;
};

int run(double seconds, const std::string& folder) {
  std::vector<std::unique_ptr<Turns>> all;
  for (const Job& job : jobs()) {
    all.push_back(std::make_unique<Turns>(job, folder));
  }
  const auto every = [&](const std::function<bool(const Figure&)>& holds) {
    return std::all_of(all.begin(), all.end(), [&](const auto& t) { return holds(t->figure()); });
  };
  const auto start = Clock::now();
  while (!every(&Figure::control_holds) &&
         std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    for (const auto& turns : all) {
      turns->add_one();
    }
  }
  fmt::print("{:<20}{:>12}{:>8}{:>9}{:>7}\n", "storage", "B/s, op/s", "ratio", "control", "turns");
  for (const auto& turns : all) {
    const Figure& figure = turns->figure();
    fmt::print("{:<20}{:>12.4g}{:>8.3f}{:>9.3f}{:>7}\n", turns->job().metric, median(figure.probe),
               median(figure.ratios), median(figure.controls), figure.ratios.size());
  }
  if (!every(&Figure::control_holds)) {
    fmt::print("the control does not hold: this disk is too busy to compare anything on it\n");
    return 3;
  }
  const bool same = every(&Figure::ratio_holds);
  fmt::print("{}\n", same ? "the probe reports what fio by hand measures"
                          : "the probe differs from fio by hand");
  return same ? 0 : 2;
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
