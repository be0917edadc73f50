#include "harness/cli/lead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <system_error>

#include "harness/cli/confirmation.hpp"
#include "harness/cli/gpu_census.hpp"
#include "harness/cli/gpu_steps.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/progress_lines.hpp"
#include "harness/cli/recording_sink.hpp"
#include "harness/cli/step_work.hpp"
#include "harness/cli/topology_source.hpp"
#include "harness/plan/pair_rounds.hpp"
#include "harness/plan/ramp.hpp"
#include "harness/plan/resume.hpp"
#include "harness/plan/teams.hpp"
#include "harness/report/report.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::cli {
namespace {

using Clock = std::chrono::steady_clock;

// All ranks left MPI_Init together: only who stopped since then takes long to say hello.
constexpr double kHello_s = 60;
// CUDA takes seconds to begin on a node of eight GPUs, and a minute where persistence mode is off.
constexpr double kLook_s = 90;
// Of a budget: a driver that hangs must not cost what the others could measure.
constexpr double kLookShare = 0.2;
constexpr double kShortestLook_s = 1;
// Of the budget, kept for the analysis and the report: for each value that is measured, and
// besides.
constexpr double kAnalysisOfValue_s = 1e-6;
constexpr double kReport_s = 1;
// Of what is left of a budget, for what is measured again.
constexpr double kConfirmShare = 0.2;

bool is_sampled(const plan::PlannedStep& step, int nodes) {
  return (step.sampled && nodes > plan::kAloneLimit) || (step.ramp && step.ramp->nodes < nodes);
}

double values_of(const std::vector<plan::Slot>& slots,
                 const std::vector<plan::PlannedStep>& steps) {
  double values = 0;
  for (const auto& slot : slots) {
    for (const auto& party : slot.parties) {
      values += static_cast<double>(party.size() *
                                    steps[static_cast<std::size_t>(slot.step)].metrics.size());
    }
  }
  return values;
}

double last_moment_s(const RunData& run) {
  double last_s = 0;
  for (const auto& sample : run.samples) {
    last_s = std::max(last_s, sample.start_s + sample.measure_s);
  }
  return last_s;
}

int first_free_slot(const RunData& run, std::size_t planned) {
  int first = static_cast<int>(planned);
  for (const auto& sample : run.samples) {
    if (sample.slot < fleet::kAgainFirst) {
      first = std::max(first, sample.slot + 1);
    }
  }
  return first;
}

// One run from here on, and what its parts share.
class Lead {
 public:
  // A run that goes on does so where its clock stood.
  Lead(fleet::Job& job, RunPlan& plan, Clock::time_point start)
      : job_(job),
        plan_(plan),
        begun_s_(plan.before ? last_moment_s(*plan.before) : 0),
        start_(start - std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(begun_s_))) {}

  int run();

 private:
  // Where measuring has to end, on the clock of the run.
  double end_s() const {
    return plan_.options.budget_s ? begun_s_ + *plan_.options.budget_s - kept_s_
                                  : std::numeric_limits<double>::infinity();
  }
  double left_s() const {
    return end_s() - std::chrono::duration<double>(Clock::now() - start_).count();
  }
  std::vector<NodeInfo> gather_nodes();
  void look_at_gpus(const std::vector<NodeInfo>& nodes);
  void begin_record(const std::vector<NodeInfo>& nodes);
  void begin_steps(int nodes);
  void omit_steps(int nodes);
  std::vector<plan::Slot> slots_for(const std::vector<NodeInfo>& nodes);
  void measure(const std::vector<plan::Slot>& slots);
  bool measure_passes(const std::vector<plan::Slot>& slots);
  int finish();
  int save_interrupted();
  int report();
  Report judged() const {
    return judge(recorder_->run(), plan_.options.min_effect, plan_.baseline);
  }

  fleet::Job& job_;
  RunPlan& plan_;
  double begun_s_;  // where the clock of the run stood when this process began
  Clock::time_point start_;
  double kept_s_ = kReport_s;
  std::vector<plan::RankInfo> ranks_;
  GpuCensus census_;
  ProgressLines progress_;
  std::optional<record::Recorder> recorder_;
};

int Lead::run() {
  job_.on_alive([this] { plan_.directory.say_alive(); });
  const auto nodes = gather_nodes();
  const int count = static_cast<int>(nodes.size());
  look_at_gpus(nodes);
  begin_record(nodes);
  plan_.suite.steps = plan::expand_ramps(std::move(plan_.suite.steps), count);
  begin_steps(count);
  omit_steps(count);
  const auto slots = slots_for(nodes);
  RecordingSink sink(*recorder_, plan_.suite.steps, census_.facts);
  job_.begin(nodes, census_.gpus, plan_.suite.steps, sink, progress_, start_);
  measure(slots);
  return finish();
}

std::vector<NodeInfo> Lead::gather_nodes() {
  ranks_ = job_.gather(progress_, std::min(kHello_s, left_s()));
  auto nodes = plan::make_nodes(ranks_, plan_.options.suite.nodes_by);
  progress_.note(fmt::format("{}; suite {}, seed {}", plan::describe(nodes),
                             plan_.suite.scenario.name, plan_.options.seed));
  if (plan_.before) {
    auto matched = plan::match_nodes(plan_.before->header.nodes, nodes);
    for (const auto& stranger : matched.strangers) {
      progress_.note(fmt::format("{} was not part of the run and is left out", stranger));
    }
    return std::move(matched.nodes);
  }
  plan::add_absent(nodes, plan_.options.without);
  return nodes;
}

void Lead::look_at_gpus(const std::vector<NodeInfo>& nodes) {
  std::map<int, Json> seen;
  if (std::ranges::any_of(plan_.suite.steps, is_on_gpus)) {
    seen = job_.look_at_gpus(nodes, progress_,
                             std::clamp(kLookShare * left_s(), kShortestLook_s, kLook_s));
  }
  census_ =
      take_census(nodes, seen, plan_.before ? plan_.before->header.nodes : std::vector<NodeInfo>());
  for (const auto& note : census_.notes) {
    progress_.note(note);
  }
  if (const auto text = plan::describe(census_.gpus); !text.empty()) {
    progress_.note(text);
  }
  leave_out_gpu_steps(plan_.suite, census_, plan_.before ? &*plan_.before : nullptr);
}

// First of all what is left out, for a run that breaks off to go on with.
void Lead::begin_record(const std::vector<NodeInfo>& nodes) {
  if (!plan_.before) {
    RunHeader header = header_of(plan_, nodes);
    if (plan_.options.topology) {
      for (const auto& note : describe_switches(header, plan_.topology, *plan_.options.topology)) {
        progress_.note(note);
      }
    }
    recorder_.emplace(plan_.directory, std::move(header));
    for (const auto& omission : plan_.suite.left_out) {
      recorder_->add(omission);
    }
    return;
  }
  RunData run = *plan_.before;
  run.header.nodes = nodes;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (!census_.facts[node].is_null()) {
      run.header.nodes[node].inventory["cuda"] = census_.facts[node];  // as it is now
    }
  }
  recorder_.emplace(plan_.directory, std::move(run));
  recorder_->add(ResumeRecord{.created = utc("{:%Y-%m-%dT%H:%M:%SZ}"), .start_s = begun_s_});
  for (const auto& omission : plan_.before->omissions) {
    const bool is_step = std::ranges::find(plan_.suite.steps, omission.step,
                                           &plan::PlannedStep::id) != plan_.suite.steps.end();
    if (!omission.node && !is_step) {
      recorder_->add(omission);
    }
  }
}

void Lead::begin_steps(int nodes) {
  StepWork work(job_, plan_.catalog, recorder_->run().header.nodes, census_, progress_);
  for (std::size_t i = 0; i < plan_.suite.steps.size(); ++i) {
    auto& step = plan_.suite.steps[i];
    std::string failure;
    if (plan_.before && i < plan_.before->steps.size()) {
      if (plan_.before->steps[i].id != step.id) {
        throw InputError(
            fmt::format("the run has step \"{}\", which cannot be measured here: see "
                        "`fleetbench doctor`, or start a new run",
                        plan_.before->steps[i].id));
      }
      failure = work.take_over(step, plan_.before->steps[i], *plan_.before);
    } else {
      failure = work.find(step, std::clamp(left_s(), 1.0, kCalibrate_s));
      recorder_->add(StepRecord{.step = static_cast<int>(i),
                                .id = step.id,
                                .probe = step.probe.name,
                                .method = step.probe.method,
                                .concurrent = step.concurrent,
                                .sampled = is_sampled(step, nodes),
                                .of_group = step.probe.participants == Participants::group,
                                .params = step.scenario.params,
                                .work = step.work,
                                .metrics = step.metrics});
    }
    if (!failure.empty()) {
      progress_.note(fmt::format("{}: {}", step.id, failure));
      recorder_->add(OmissionRecord{step.id, std::nullopt, failure});
    }
  }
}

// What so few nodes, or GPUs, cannot be asked.
void Lead::omit_steps(int nodes) {
  for (const auto& step : plan_.suite.steps) {
    auto reason = plan::reason_without_slots(step, nodes);
    if (!reason && step.probe.joins_workers) {
      reason = plan::reason_without_teams(step, census_.gpus);
    }
    if (reason) {
      recorder_->add(OmissionRecord{step.id, std::nullopt, *reason});
    }
  }
}

std::vector<plan::Slot> Lead::slots_for(const std::vector<NodeInfo>& nodes) {
  const auto& steps = plan_.suite.steps;
  auto planned = plan::within_budget(
      steps, plan::make_slots(steps, static_cast<int>(nodes.size()), plan_.options.seed,
                              plan::labels_of(census_.gpus)));
  for (const auto& omission : planned.omitted) {
    progress_.note(fmt::format("{}: {}", omission.step, omission.reason));
    recorder_->add(omission);
  }
  kept_s_ += kAnalysisOfValue_s * values_of(planned.slots, steps);
  if (!plan_.before) {
    return std::move(planned.slots);
  }
  auto missing = plan::missing_slots(planned.slots, steps, *plan_.before, nodes, census_.gpus);
  progress_.note(fmt::format("the run goes on: {} of {} slots are missing", missing.size(),
                             planned.slots.size()));
  return missing;
}

// The first pass of a run with a budget shows for how many rounds of pairs there is time.
bool Lead::measure_passes(const std::vector<plan::Slot>& slots) {
  const auto& steps = plan_.suite.steps;
  if (!plan_.options.budget_s) {
    return job_.measure(slots, {});
  }
  auto trial = plan::try_rounds(steps, slots);
  if (!job_.measure(trial.first, {.end_s = end_s()})) {
    return false;
  }
  const auto seconds = plan::seconds_of_slots(recorder_->run());
  const double share = plan_.options.confirm ? 1 - kConfirmShare : 1;
  const auto nodes = static_cast<int>(recorder_->run().header.nodes.size());
  const auto chosen = plan::fit_rounds(steps, std::move(trial), seconds, share * left_s(), nodes,
                                       plan_.options.seed);
  for (const auto& omission : chosen.omitted) {
    progress_.note(fmt::format("{}: {}", omission.step, omission.reason));
    recorder_->add(omission);
  }
  return job_.measure(chosen.slots, {.end_s = end_s()});
}

void Lead::measure(const std::vector<plan::Slot>& slots) {
  if (!measure_passes(slots) || !plan_.options.confirm) {
    return;
  }
  confirm_suspects(job_,
                   {.steps = plan_.suite.steps,
                    .devices = plan::labels_of(census_.gpus),
                    .slots = first_free_slot(recorder_->run(), slots.size()),
                    .start = start_,
                    .end_s = end_s(),
                    .judge = [this] { return judged(); }},
                   plan_.options, *recorder_, progress_);
}

int Lead::finish() {
  auto outcome = job_.finish(end_s());
  if (outcome.interrupted) {
    return save_interrupted();
  }
  recorder_->add(EndRecord{
      .interrupted = false, .reason = "", .time = outcome.time, .waiting = outcome.waiting});
  recorder_->sync();
  return report();
}

// A launcher that sent SIGTERM sends SIGKILL a second later, and a busy disk may need longer than
// that to sync: so first what was measured, then who is to blame.
int Lead::save_interrupted() {
  recorder_->sync();
  job_.call_roll();
  recorder_->add(EndRecord{.interrupted = true,
                           .reason = "interrupted by a signal",
                           .time = job_.time(),
                           .waiting = {}});
  recorder_->sync();
  complain(fmt::format("interrupted; `fleetbench analyze {}` reports what was measured",
                       recorder_->directory().path().string()));
  return kInconclusive;
}

int Lead::report() {
  const Report report = judged();
  std::string unwritten;
  try {
    record::write_report(recorder_->directory(), report_json(report), prometheus_text(report),
                         report.verdict);
  } catch (const std::system_error& error) {
    unwritten = error.what();
  }
  print(report, recorder_->run(), plan_.options.json, recorder_->directory().path().string());
  if (!unwritten.empty()) {
    complain("the report is not on disk: " + unwritten);
  }
  return run_exit_code(report.verdict, plan_.options.exit_on_warn);
}

}  // namespace

int lead(fleet::Job& job, RunPlan& plan, Clock::time_point start) {
  return Lead(job, plan, start).run();
}

}  // namespace fleetbench::cli
