#include "harness/cli/run_plan.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>

#include "harness/cli/baseline_source.hpp"
#include "harness/cli/topology_source.hpp"
#include "harness/record/recorder.hpp"
#include "results-schema/check.hpp"
#include "results-schema/version.hpp"

namespace fleetbench::cli {
namespace {

namespace fs = std::filesystem;

// The launcher itself needs a handful of descriptors for each rank that it starts on this machine,
// and stops without a word where it gets none.
void check_open_files() {
  constexpr long kPerRank = 5;
  constexpr long kBesides = 64;
  const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  rlimit limit{};
  if (text == nullptr || getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return;
  }
  const long needed = std::atol(text) * kPerRank + kBesides;
  if (limit.rlim_cur < static_cast<rlim_t>(needed)) {
    throw InputError(fmt::format(
        "{} ranks on one machine need about {} open files, the limit is {}: raise it with "
        "`ulimit -n {}` before mpirun",
        text, needed, limit.rlim_cur, needed));
  }
}

// The same program measures on, or figures before and after could not be compared.
void check_same_build(const RunData& run, const std::string& directory) {
  if (run.header.version != kVersion || run.header.build != kBuild) {
    throw InputError(fmt::format(
        "{}: was measured by fleetbench {} ({}), this is {} ({}): go on with that one, or start a "
        "new run",
        directory, run.header.version, run.header.build, kVersion, kBuild));
  }
}

std::shared_ptr<const Baseline> past_of(const RunOptions& options) {
  auto baseline = options.baseline ? load_baseline(*options.baseline) : nullptr;
  if (baseline) {
    warn_if_imported(*baseline, *options.baseline);
  }
  return baseline;
}

}  // namespace

fs::path new_run_folder(const std::string& suite) {
  const fs::path base = fs::path("fleetbench-runs") / (utc("{:%Y%m%dT%H%M%SZ}-") + suite);
  fs::path path = base;
  for (int number = 2; fs::exists(path); ++number) {
    path = base.string() + fmt::format("-{}", number);
  }
  return path;
}

std::string utc(const char* format) {
  return fmt::format(fmt::runtime(format), fmt::gmtime(std::time(nullptr)));
}

RunPlan plan_run(const RunOptions& options, const Invocation& invocation, worker::Worker& worker) {
  check_open_files();
  Catalog catalog(worker);
  Suite suite = resolve(options.suite, catalog);
  auto baseline = past_of(options);
  Topology topology = options.topology ? read_topology_file(*options.topology) : Topology();
  const fs::path out =
      options.out.empty() ? new_run_folder(suite.scenario.name) : fs::path(options.out);
  return {options,          invocation.arguments, std::move(catalog),
          std::move(suite), std::move(baseline),  record::RunDirectory::create(out),
          std::nullopt,     std::move(topology)};
}

RunPlan plan_to_resume(const std::string& path, const RunOptions& times, worker::Worker& worker) {
  check_open_files();
  auto directory = record::RunDirectory::open_to_write(path);
  RunData before = record::load_run(directory);
  check_same_build(before, path);
  std::string help;
  const auto first = parse_run_options({before.header.arguments, {}}, help);
  if (!first || before.imported) {
    throw InputError(fmt::format("{}: is no run that could go on", path));
  }
  RunOptions options = *first;
  options.out = path;
  options.seed = before.header.seed;
  options.budget_s = times.budget_s;
  options.launch_limit_s = times.launch_limit_s;
  options.under_gate = false;
  options.without.clear();
  options.json = times.json;
  Catalog catalog(worker);
  Suite suite = resolve_again(parse_scenario(before.header.scenario.dump(), path + "/run.json"),
                              options.suite, catalog);
  auto baseline = past_of(options);
  return {options,
          before.header.arguments,
          std::move(catalog),
          std::move(suite),
          std::move(baseline),
          std::move(directory),
          std::move(before),
          {}};
}

RunHeader header_of(const RunPlan& plan, std::vector<NodeInfo> nodes) {
  RunHeader header;
  header.run_id = utc("{:%Y%m%dT%H%M%SZ}-") + fmt::format("{:08x}", std::random_device{}());
  header.created = utc("{:%Y-%m-%dT%H:%M:%SZ}");
  header.version = kVersion;
  header.build = kBuild;
  header.suite = plan.suite.scenario.name;
  header.arguments = plan.arguments;
  header.seed = plan.options.seed;
  header.scenario = to_json(plan.suite.scenario);
  header.nodes = std::move(nodes);
  return header;
}

}  // namespace fleetbench::cli
