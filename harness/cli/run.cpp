// `fleetbench run`: every rank comes here; the root decides, measures and reports.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>

#include "harness/cli/baseline_source.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/confirmation.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/progress_lines.hpp"
#include "harness/cli/run_options.hpp"
#include "harness/fleet/job.hpp"
#include "harness/plan/ramp.hpp"
#include "harness/record/recorder.hpp"
#include "harness/report/report.hpp"
#include "results-schema/check.hpp"
#include "results-schema/version.hpp"

namespace fleetbench::cli {
namespace {

namespace fs = std::filesystem;

std::string utc(const char* format) {
  return fmt::format(fmt::runtime(format), fmt::gmtime(std::time(nullptr)));
}

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

fs::path new_folder(const std::string& suite) {
  const fs::path base = fs::path("fleetbench-runs") / (utc("{:%Y%m%dT%H%M%SZ}-") + suite);
  fs::path path = base;
  for (int number = 2; fs::exists(path); ++number) {
    path = base.string() + fmt::format("-{}", number);
  }
  return path;
}

// Records go to the disk; what an inventory says of a node belongs to the node.
class RecordingSink : public fleet::RecordSink {
 public:
  RecordingSink(record::Recorder& recorder, const std::vector<plan::PlannedStep>& steps)
      : recorder_(recorder), steps_(steps) {}

  void add(const Record& record) override {
    const auto* sample = std::get_if<SampleRecord>(&record);
    if (sample == nullptr || !steps_[static_cast<std::size_t>(sample->step)].probe.facts_only ||
        sample->status != Status::ok) {
      recorder_.add(record);
      return;
    }
    auto facts = *sample;
    facts.detail.erase("resources");
    facts.detail.erase("evidence");
    recorder_.set_inventory(facts.node, std::move(facts.detail));
    facts.detail = nullptr;
    header_changed_ = true;
    recorder_.add(facts);
  }

  void sync() override {
    if (header_changed_) {
      recorder_.rewrite_header();
      header_changed_ = false;
    }
    recorder_.sync();
  }

 private:
  record::Recorder& recorder_;
  const std::vector<plan::PlannedStep>& steps_;
  bool header_changed_ = false;
};

// What the root knows before it joins the job.
struct Plan {
  RunOptions options;
  Catalog catalog;
  Suite suite;
  std::shared_ptr<const Baseline> baseline;
  record::RunDirectory directory;
};

Plan make_plan(const RunOptions& options, worker::Worker& worker) {
  check_open_files();
  Catalog catalog(worker);
  Suite suite = resolve(options.suite, catalog);
  auto baseline = options.baseline ? load_baseline(*options.baseline) : nullptr;
  const fs::path out =
      options.out.empty() ? new_folder(suite.scenario.name) : fs::path(options.out);
  return {options, std::move(catalog), std::move(suite), std::move(baseline),
          record::RunDirectory::create(out)};
}

RunHeader make_header(const Plan& plan, const Invocation& invocation, std::vector<NodeInfo> nodes) {
  RunHeader header;
  header.run_id = utc("{:%Y%m%dT%H%M%SZ}-") + fmt::format("{:08x}", std::random_device{}());
  header.created = utc("{:%Y-%m-%dT%H:%M:%SZ}");
  header.version = kVersion;
  header.build = kBuild;
  header.suite = plan.suite.scenario.name;
  header.arguments = invocation.arguments;
  header.seed = plan.options.seed;
  header.scenario = to_json(plan.suite.scenario);
  header.nodes = std::move(nodes);
  return header;
}

// Fixes the step's work. Where that fails, the step is not measured: returns why, else nothing.
// Steps that one step of the scenario was made into do the same work: `done` holds what was found.
std::string calibrate(Catalog& catalog, plan::PlannedStep& step,
                      std::map<std::string, Json>& done) {
  try {
    const auto found = done.find(step.scenario.id);
    step.work = found != done.end()
                    ? found->second
                    : catalog.calibrate({step.probe, step.over_mpi}, step.scenario.params);
    done[step.scenario.id] = step.work;
    return "";
  } catch (const std::runtime_error& error) {
    step.passes = 0;
    return fmt::format(
        "not measured, for how much work to do could not be found on the first node: {}",
        error.what());
  }
}

bool is_sampled(const plan::PlannedStep& step, int nodes) {
  return (step.sampled && nodes > plan::kAloneLimit) || (step.ramp && step.ramp->nodes < nodes);
}

void begin_steps(Plan& plan, int nodes, record::Recorder& recorder, ProgressLines& progress) {
  int index = 0;
  std::map<std::string, Json> work;  // by step of the scenario
  for (auto& step : plan.suite.steps) {
    std::string failure;
    if (!step.probe.facts_only) {
      failure = calibrate(plan.catalog, step, work);
    }
    recorder.add(StepRecord{.step = index++,
                            .id = step.id,
                            .probe = step.probe.name,
                            .method = step.probe.method,
                            .concurrent = step.concurrent,
                            .sampled = is_sampled(step, nodes),
                            .of_group = step.probe.participants == Participants::group,
                            .params = step.scenario.params,
                            .work = step.work,
                            .metrics = step.metrics});
    if (!failure.empty()) {
      progress.note(fmt::format("{}: {}", step.id, failure));
      recorder.add(OmissionRecord{step.id, std::nullopt, failure});
    }
  }
}

// What so few nodes cannot be asked.
void omit_steps(const std::vector<plan::PlannedStep>& steps, int nodes,
                record::Recorder& recorder) {
  for (const auto& step : steps) {
    if (const auto reason = plan::reason_without_slots(step, nodes)) {
      recorder.add(OmissionRecord{step.id, std::nullopt, *reason});
    }
  }
}

std::vector<plan::Slot> slots_of(const Plan& plan, int nodes, record::Recorder& recorder,
                                 ProgressLines& progress) {
  auto planned = plan::within_budget(plan.suite.steps,
                                     plan::make_slots(plan.suite.steps, nodes, plan.options.seed));
  for (const auto& omission : planned.omitted) {
    progress.note(fmt::format("{}: {}", omission.step, omission.reason));
    recorder.add(omission);
  }
  return std::move(planned.slots);
}

// Interrupted: a launcher that sent SIGTERM sends SIGKILL a second later, and a busy disk may need
// longer than that to sync.
int save_interrupted(record::Recorder& recorder) {
  record::write_whole(recorder.directory().verdict(),
                      std::string(to_string(Verdict::inconclusive)) + "\n", record::ToDisk::later);
  recorder.sync();
  fmt::print(stderr, "fleetbench: interrupted; `fleetbench analyze {}` reports what was measured\n",
             recorder.directory().path().string());
  return kInconclusive;
}

Report judged(const Plan& plan, const record::Recorder& recorder) {
  return judge(recorder.run(), plan.options.min_effect, plan.baseline);
}

int report_run(const Plan& plan, const record::Recorder& recorder) {
  const Report report = judged(plan, recorder);
  std::string unwritten;
  try {
    record::write_report(recorder.directory(), report_json(report), prometheus_text(report),
                         report.verdict);
  } catch (const std::system_error& error) {
    unwritten = error.what();
  }
  print(report, plan.options.json, recorder.directory().path().string());
  if (!unwritten.empty()) {
    fmt::print(stderr, "fleetbench: the report is not on disk: {}\n", unwritten);
  }
  return run_exit_code(report.verdict, plan.options.exit_on_warn);
}

int lead(fleet::Job& job, Plan& plan, const Invocation& invocation) {
  ProgressLines progress;
  const auto ranks = job.gather(progress);
  auto nodes = plan::make_nodes(ranks, plan.options.suite.nodes_by);
  progress.note(fmt::format("{}; suite {}, seed {}", plan::describe(nodes),
                            plan.suite.scenario.name, plan.options.seed));
  record::Recorder recorder(plan.directory, make_header(plan, invocation, nodes));
  const int count = static_cast<int>(nodes.size());
  plan.suite.steps = plan::expand_ramps(std::move(plan.suite.steps), count);
  begin_steps(plan, count, recorder, progress);
  omit_steps(plan.suite.steps, count, recorder);
  const auto slots = slots_of(plan, count, recorder, progress);
  RecordingSink sink(recorder, plan.suite.steps);
  job.begin(nodes, plan.suite.steps, sink, progress, invocation.start);
  if (job.measure(slots) && plan.options.confirm) {
    confirm_suspects(job,
                     {.steps = plan.suite.steps,
                      .slots = static_cast<int>(slots.size()),
                      .start = invocation.start,
                      .judge = [&] { return judged(plan, recorder); }},
                     plan.options, recorder, progress);
  }
  const auto outcome = job.finish();
  recorder.add(EndRecord{.interrupted = outcome.interrupted,
                         .reason = outcome.interrupted ? "interrupted by a signal" : "",
                         .time = outcome.time,
                         .waiting = outcome.waiting});
  if (outcome.interrupted) {
    return save_interrupted(recorder);
  }
  recorder.sync();
  return report_run(plan, recorder);
}

// A rank that cannot go on must not wait for the others in MPI_Finalize.
int follow(fleet::Job& job) {
  try {
    job.serve();
    return kOk;
  } catch (const std::exception& error) {
    complain(error.what());
    std::_Exit(kInternalError);
  }
}

}  // namespace

int run_command(const Invocation& invocation) {
  const bool speaks = fleet::rank_given_by_launcher() == 0;
  std::string help;
  std::optional<RunOptions> options;
  try {
    options = parse_run_options(invocation, help);
  } catch (const InputError&) {
    if (!speaks) {
      return kUsageError;  // said once is enough
    }
    throw;
  }
  if (!options) {
    if (speaks) {
      fmt::print("{}", help);
    }
    return kOk;
  }
  auto worker = local_worker();
  std::optional<Plan> plan;
  if (speaks) {
    plan.emplace(make_plan(*options, worker));
  }
  fleet::Job job(worker);
  if (job.is_root() != speaks) {
    complain(
        "the launcher's environment and MPI disagree about which rank this is: start fleetbench by "
        "the launcher of its MPI library, under Slurm by `srun --mpi=pmix`");
    job.abort(kInternalError);
  }
  if (!job.is_root()) {
    return follow(job);
  }
  int exit_code = kInternalError;
  try {
    exit_code = lead(job, *plan, invocation);
  } catch (const fleet::Interrupted& error) {
    complain(error.what());
    job.abort(kInconclusive);
  } catch (const std::exception& error) {
    complain(error.what());
    job.abort(kInternalError);
  }
  job.close(exit_code);
  return exit_code;
}

}  // namespace fleetbench::cli
