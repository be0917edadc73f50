// `fleetbench simulate -o FILE.csv`: samples of a fleet that does not exist, with faults that are
// known.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <random>
#include <system_error>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/record/run_directory.hpp"
#include "harness/report/escape.hpp"
#include "harness/simulate/text.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

using simulation::FleetSpec;

template <typename Enum>
std::string names(const std::vector<Enum>& values) {
  std::string text;
  for (const Enum value : values) {
    text += fmt::format("{}{}", text.empty() ? "" : "|", to_string(value));
  }
  return text;
}

Usage usage() {
  return {.program = "fleetbench simulate",
          .summary =
              "Writes samples of a simulated fleet as CSV, healthy or with known faults, to try "
              "thresholds and reports on.\nExit codes: 0 written, 64 wrong usage.",
          .synopsis = "-o FILE.csv [OPTIONS]",
          .options =
              {{"o,output", "the samples, one a line; `fleetbench analyze` reads them", "FILE.csv"},
               {"truth", "what is true of the fleet, as JSON: faults, spreads, seed", "FILE.json"},
               {"nodes", "default 32", "N"},
               {"devices", "of each node; default 0", "N"},
               {"metrics", "spread over four layers; default 20", "N"},
               {"passes", "values of each metric and subject; default 5", "N"},
               {"spread",
                "standard deviation between subjects, drawn for each metric from these; default "
                "0.05,0.3,0.6,1.7,2.2",
                "PERCENT,..."},
               {"noise",
                "standard deviation from pass to pass over that between subjects, drawn from this "
                "range; default 0.06,3",
                "LOW,HIGH"},
               {"tails", "how subjects differ; default normal", names(simulation::all_tails())},
               {"correlation",
                "0 to 1, of a subject's deviations in the metrics of one layer; default 0", "R"},
               {"fault", "what is wrong; default none", names(simulation::all_faults())},
               {"effect", "how much longer what is slow takes; default 5", "PERCENT"},
               {"faulty", "how many nodes have the fault, or which share of them; default 1",
                "N|PERCENT%"},
               {"nuisance", "what looks like a fault and is none; default none",
                names(simulation::all_nuisances())},
               {"seed", "of the fleet; default: drawn and printed", "N"},
               {"run",
                "the how-manieth run of the fleet with this seed: the same subjects, new noise; "
                "default 0",
                "N"}},
          .epilogue =
              "Examples:\n"
              "  fleetbench simulate -o healthy.csv\n"
              "  fleetbench simulate --fault device --devices 8 --effect 8 --truth truth.json -o "
              "fleet.csv\n"};
}

double number(const std::string& option, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw InputError(fmt::format("--{} {}: is not a number", option, text));
  }
  return value;
}

std::vector<double> numbers(const std::string& option, const std::string& text) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(number(option, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return values;
}

int count(const Arguments& arguments, const std::string& option, int otherwise, long least,
          long most) {
  return arguments.has(option)
             ? static_cast<int>(whole_number(option, arguments.text(option), least, most))
             : otherwise;
}

void set_spreads(const Arguments& arguments, FleetSpec& spec) {
  if (arguments.has("spread")) {
    spec.spreads = numbers("spread", arguments.text("spread"));
    for (double& spread : spec.spreads) {
      spread /= 100;
    }
  }
  if (arguments.has("noise")) {
    const auto range = numbers("noise", arguments.text("noise"));
    if (range.size() != 2) {
      throw InputError(fmt::format("--noise {}: is not LOW,HIGH", arguments.text("noise")));
    }
    spec.noise_low = range[0];
    spec.noise_high = range[1];
  }
  if (arguments.has("correlation")) {
    spec.correlation = number("correlation", arguments.text("correlation"));
  }
}

int faulty_nodes(const std::string& text, int nodes) {
  if (!text.ends_with('%')) {
    return static_cast<int>(whole_number("faulty", text, 1, nodes));
  }
  const double percent = number("faulty", text.substr(0, text.size() - 1));
  if (!(percent > 0 && percent <= 100)) {
    throw InputError(fmt::format("--faulty {}: is not over 0 % to 100 %", text));
  }
  return std::max(1, static_cast<int>(std::lround(percent / 100 * nodes)));
}

void set_faults(const Arguments& arguments, FleetSpec& spec) {
  if (arguments.has("fault")) {
    spec.fault = simulation::parse_fault(arguments.text("fault"));
  }
  if (arguments.has("effect")) {
    spec.effect = number("effect", arguments.text("effect")) / 100;
  }
  if (arguments.has("faulty")) {
    spec.faulty = faulty_nodes(arguments.text("faulty"), spec.nodes);
  }
  for (const char* option : {"effect", "faulty"}) {
    if (arguments.has(option) && spec.fault == simulation::Fault::none) {
      throw InputError(fmt::format("--{}: has no meaning without --fault", option));
    }
  }
  if (arguments.has("nuisance")) {
    spec.nuisance = simulation::parse_nuisance(arguments.text("nuisance"));
  }
}

FleetSpec spec_of(const Arguments& arguments) {
  FleetSpec spec;
  spec.imported = true;
  spec.nodes = count(arguments, "nodes", spec.nodes, 1, 100000);
  spec.devices = count(arguments, "devices", spec.devices, 0, 64);
  spec.metrics = count(arguments, "metrics", spec.metrics, 1, 10000);
  spec.passes = count(arguments, "passes", spec.passes, 1, 1000);
  if (arguments.has("tails")) {
    spec.tails = simulation::parse_tails(arguments.text("tails"));
  }
  set_spreads(arguments, spec);
  set_faults(arguments, spec);
  check(spec);
  return spec;
}

void write(const std::string& option, const std::string& file, const std::string& text) {
  try {
    record::write_whole(file, text);
  } catch (const std::system_error& error) {
    throw InputError(fmt::format("--{} {}: {}; choose a file in a folder that you may write",
                                 option, file, error.what()));
  }
}

}  // namespace

int simulate_command(const Invocation& invocation) {
  const auto arguments = parse(usage(), invocation.arguments);
  if (arguments.has("help")) {
    fmt::print("{}", help(usage()));
    return kOk;
  }
  const std::string output = arguments.text("output");
  if (output.empty()) {
    throw InputError("say where the samples go: fleetbench simulate -o FILE.csv");
  }
  const FleetSpec spec = spec_of(arguments);
  const auto seed =
      arguments.has("seed")
          ? static_cast<std::uint64_t>(whole_number("seed", arguments.text("seed"), 0, 4294967295))
          : std::random_device()();
  const int run = count(arguments, "run", 0, 0, 1000000);
  const simulation::Fleet fleet = simulate_fleet(spec, seed, static_cast<std::uint32_t>(run));
  write("output", output, to_csv(fleet));
  if (arguments.has("truth")) {
    write("truth", arguments.text("truth"), truth_of(fleet).dump(2) + "\n");
  }
  fmt::print("{}: {} nodes, {} metrics, {} passes, seed {}\n", report::escaped(output), spec.nodes,
             spec.metrics, spec.passes, seed);
  return kOk;
}

}  // namespace fleetbench::cli
