// How good the detector is, on simulated fleets with known faults: see tests/bench/README.md.
#include <fmt/format.h>

#include <chrono>
#include <cxxopts.hpp>
#include <random>

#include "tests/bench/detection/sections.hpp"

namespace {

using namespace fleetbench;

cxxopts::Options describe_options() {
  cxxopts::Options options(
      "detection_bench",
      "Runs the detector over simulated fleets beside an oracle and the rules "
      "in use today. Exit codes: 0 all claims hold, 1 one does not, 64 usage.");
  std::string names;
  for (const bench::Section& section : bench::sections()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", section.name);
  }
  options.add_options()("quick", "few cells, about a minute")(
      "fleets", "fleets a cell of 32 nodes with 20 metrics; large fleets get fewer",
      cxxopts::value<int>())("only", "one part: " + names, cxxopts::value<std::string>())(
      "cells", "only those whose description contains this: \"N 8 M 20 normal noisy\"",
      cxxopts::value<std::string>())("seed", "repeat the fleets of an earlier run; else fresh ones",
                                     cxxopts::value<std::uint64_t>())("h,help", "say this");
  return options;
}

int run(const cxxopts::ParseResult& arguments) {
  bench::Plan plan;
  plan.quick = arguments.count("quick") > 0;
  plan.fleets = arguments.count("fleets") > 0 ? arguments["fleets"].as<int>()
                                              : (plan.quick ? 80 : plan.fleets);
  plan.seed =
      arguments.count("seed") > 0
          ? arguments["seed"].as<std::uint64_t>()
          : (static_cast<std::uint64_t>(std::random_device()()) << 32) ^ std::random_device()();
  const std::string only = arguments.count("only") > 0 ? arguments["only"].as<std::string>() : "";
  plan.cells = arguments.count("cells") > 0 ? arguments["cells"].as<std::string>() : "";
  bool known = only.empty();
  fmt::print("seed {}, {} fleets a cell of 32 nodes\n", plan.seed, plan.fleets);
  bench::Acceptance acceptance;
  for (const bench::Section& section : bench::sections()) {
    if (!only.empty() && only != section.name) {
      continue;
    }
    known = true;
    const auto start = std::chrono::steady_clock::now();
    fmt::print("\n== {}: {}\n", section.name, section.about);
    section.run(plan, acceptance);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fmt::print("({:.0f} s)\n", took.count());
    std::fflush(stdout);
  }
  if (!known) {
    fmt::print(stderr, "detection_bench: --only {}: see --help for the parts\n", only);
    return 64;
  }
  fmt::print("\n");
  return acceptance.print() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options = describe_options();
  try {
    const auto arguments = options.parse(argc, argv);
    if (arguments.count("help") > 0) {
      fmt::print("{}", options.help());
      return 0;
    }
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "detection_bench: {}\n", error.what());
    return 64;
  }
}
