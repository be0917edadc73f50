#include "harness/cli/confirmation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/detect/confirm.hpp"
#include "harness/plan/confirmation.hpp"

namespace fleetbench::cli {
namespace {

// Long enough for some suspects in a short run; in a long one it may take a while, too.
constexpr double kShortestLimit_s = 60;
constexpr double kShareOfRun = 0.25;

std::string name_of(const std::vector<NodeInfo>& nodes, const Comparison& compared) {
  const auto& name = nodes[static_cast<std::size_t>(compared.node)].name;
  return compared.peer ? name + " - " + nodes[static_cast<std::size_t>(*compared.peer)].name : name;
}

void announce(const plan::Confirmation& plan, const std::vector<NodeInfo>& nodes, double left_s,
              ProgressLines& progress) {
  std::vector<std::string> suspects;
  for (const ConfirmRecord& record : plan.records) {
    for (const Comparison& compared : record.compared) {
      const std::string what = fmt::format("{} ({})", name_of(nodes, compared), compared.metric);
      if (record.pairs > 0) {
        suspects.push_back(what);
      } else {
        progress.note(fmt::format("{} is not measured again: {}", what, record.reason));
      }
    }
  }
  if (!suspects.empty()) {
    progress.note(fmt::format("measuring {} {} again, for at most {:.0f} s: {}", suspects.size(),
                              suspects.size() == 1 ? "suspect" : "suspects", left_s,
                              fmt::join(suspects, ", ")));
  }
}

}  // namespace

void confirm_suspects(fleet::Job& job, const Passes& passes, const RunOptions& options,
                      record::Recorder& recorder, ProgressLines& progress) {
  const auto now_s = [&passes] {
    return std::chrono::duration<double>(fleet::Job::Clock::now() - passes.start).count();
  };
  const double begun_s = now_s();
  const double limit_s =
      std::min(options.confirm_limit_s.value_or(std::max(kShortestLimit_s, kShareOfRun * begun_s)),
               std::max(0.0, passes.end_s - begun_s));
  int first_slot = passes.slots;
  while (true) {
    const Report report = passes.judge();
    const auto suspects = suspects_to_confirm(recorder.run(), report);
    if (suspects.empty()) {
      return;
    }
    const double left_s = begun_s + limit_s - now_s();
    const auto plan = plan::plan_confirmation(passes.steps, recorder.run(), suspects,
                                              {.limit_s = limit_s,
                                               .left_s = left_s,
                                               .seed = options.seed,
                                               .first_slot = first_slot,
                                               .devices = passes.devices,
                                               .partners = sound_nodes(recorder.run(), report)});
    announce(plan, recorder.run().header.nodes, left_s, progress);
    for (const ConfirmRecord& record : plan.records) {
      recorder.add(record);
    }
    first_slot += static_cast<int>(plan.slots.size());
    if (!job.measure(plan.slots, {.no_slot_after_s = begun_s + limit_s, .end_s = passes.end_s})) {
      return;
    }
  }
}

}  // namespace fleetbench::cli
