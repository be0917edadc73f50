#include "harness/cli/aftermath.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include "harness/cli/baseline_source.hpp"
#include "harness/cli/judgement.hpp"
#include "harness/cli/run_plan.hpp"
#include "harness/gate/watch.hpp"
#include "harness/record/marks.hpp"
#include "harness/record/recorder.hpp"
#include "harness/report/report.hpp"
#include "results-schema/check.hpp"
#include "results-schema/version.hpp"

namespace fleetbench::cli {
namespace {

namespace fs = std::filesystem;

// Of a root that ends in these moments.
constexpr int kLockWait_ms = 5000;

void wait_for_lock(const fs::path& directory) {
  for (int ms = 0; ms < kLockWait_ms && record::is_locked(directory); ms += 100) {
    usleep(100000);
  }
}

bool is_complete(const RunData& run) { return run.end && !run.end->interrupted; }

// Who was expected, and who came up besides; the latter know their ranks.
std::vector<NodeInfo> nodes_of(const fs::path& directory, const WhatHappened& happened) {
  const auto marks = record::read_marks(directory);
  std::vector<NodeInfo> nodes;
  const auto node_named = [&](const std::string& name) -> NodeInfo& {
    const auto found = std::ranges::find(nodes, name, &NodeInfo::name);
    if (found != nodes.end()) {
      return *found;
    }
    nodes.push_back({.index = static_cast<int>(nodes.size()),
                     .name = name,
                     .boot_id = "",
                     .ranks = {},
                     .inventory = nullptr,
                     .cohort = ""});
    return nodes.back();
  };
  for (const auto* hosts : {&happened.hosts, &happened.absent}) {
    for (const auto& host : *hosts) {
      const auto* mark = gate::mark_of(host, marks);
      node_named(mark != nullptr ? mark->host : host);
    }
  }
  for (const auto& mark : marks) {
    node_named(mark.host).ranks.push_back(mark.rank);
  }
  for (auto& node : nodes) {
    std::ranges::sort(node.ranks);
  }
  return nodes;
}

// A run that never began, as far as it is known.
RunData run_without_beginning(const fs::path& directory, const WhatHappened& happened) {
  RunData run;
  run.header.run_id = utc("{:%Y%m%dT%H%M%SZ}-launch");
  run.header.created = utc("{:%Y-%m-%dT%H:%M:%SZ}");
  run.header.version = kVersion;
  run.header.build = kBuild;
  run.header.scenario = Json::object();
  run.header.nodes = nodes_of(directory, happened);
  return run;
}

std::vector<LossRecord> losses_of(const RunData& run, const fs::path& directory,
                                  const std::vector<std::string>& absent) {
  const auto marks = record::read_marks(directory);
  std::vector<LossRecord> losses;
  for (const auto& host : absent) {
    const auto* mark = gate::mark_of(host, marks);
    const std::string name = mark != nullptr ? mark->host : host;
    const auto node = std::ranges::find(run.header.nodes, name, &NodeInfo::name);
    if (node != run.header.nodes.end()) {
      losses.push_back({.rank = std::nullopt,
                        .node = node->index,
                        .slot = std::nullopt,
                        .step = "start",
                        .phase = "launch",
                        .reason = mark != nullptr ? "it came up and stopped before it joined"
                                                  : "it did not come up"});
    }
  }
  return losses;
}

// A node that was lost in the middle, when nobody recorded it. What it did then is known only from
// what was recorded before.
LossRecord loss_in_the_middle(const RunData& run, const NodeInfo& node, const std::string& reason) {
  const bool measured = !run.samples.empty();
  return {.rank = node.ranks.empty() ? std::nullopt : std::optional(node.leader()),
          .node = node.index,
          .slot = std::nullopt,
          .step = measured ? run.steps.at(static_cast<std::size_t>(run.samples.back().step)).id
                           : std::string("start"),
          .phase = measured ? "measure" : "start",
          .reason = reason};
}

bool is_recorded_as_lost(const RunData& run, const NodeInfo& node) {
  return std::ranges::any_of(run.losses,
                             [&](const LossRecord& loss) { return loss.node == node.index; });
}

// The node of rank 0, which led the run until it was gone, and those that the launcher lost.
std::vector<Record> losses_in_the_middle(const RunData& run, const WhatHappened& happened) {
  std::vector<Record> losses;
  for (const auto& node : run.header.nodes) {
    const bool led = std::ranges::count(node.ranks, 0) > 0;
    if (is_recorded_as_lost(run, node)) {
      continue;
    }
    if (std::ranges::count(happened.lost, node.name) > 0) {
      losses.emplace_back(loss_in_the_middle(run, node, "the launcher lost its daemon there"));
    } else if (led && happened.root_lost && !run.end) {
      losses.emplace_back(loss_in_the_middle(run, node, happened.reason));
    }
  }
  return losses;
}

// A run that was interrupted has said so itself; what the gate saw comes on top.
EndRecord broken_off(const std::string& reason, const RunData& run) {
  if (run.end) {
    EndRecord end = *run.end;
    end.reason += "; " + reason;
    return end;
  }
  double wall_s = 0;
  for (const auto& sample : run.samples) {
    wall_s = std::max(wall_s, sample.start_s + sample.measure_s);
  }
  return {.interrupted = true, .reason = reason, .time = {.wall_s = wall_s}, .waiting = {}};
}

// Records what happened, on disk where that can be; returns what is known of the run then.
RunData complete(const fs::path& directory, RunData run, bool is_new,
                 const std::vector<Record>& records) {
  try {
    auto folder = is_new ? record::RunDirectory::create(directory)
                         : record::RunDirectory::open_to_write(directory);
    std::optional<record::Recorder> recorder;
    if (is_new) {
      recorder.emplace(std::move(folder), run.header);
    } else {
      recorder.emplace(std::move(folder), run);
    }
    for (const auto& each : records) {
      recorder->add(each);
    }
    recorder->sync();
    return recorder->run();
  } catch (const std::exception& error) {
    complain(fmt::format("what happened is in this report alone: {}", error.what()));
    for (const auto& each : records) {
      add_record(run, each);
    }
    return run;
  }
}

// As the run itself would have judged.
Report judged(const RunData& run) {
  std::string help;
  try {
    if (const auto options = parse_run_options({run.header.arguments, {}}, help)) {
      return judge(run, options->min_effect,
                   options->baseline ? load_baseline(*options->baseline) : nullptr);
    }
  } catch (const InputError& error) {
    if (!run.header.arguments.empty()) {
      complain(error.what());
    }
  }
  return judge(run, {}, nullptr);
}

void write(const fs::path& directory, const Report& report) {
  try {
    record::write_report(record::RunDirectory::open(directory), report_json(report),
                         prometheus_text(report), report.verdict);
  } catch (const std::exception& error) {
    complain(fmt::format("the report is not on disk: {}", error.what()));
  }
}

std::optional<RunData> read_run(const fs::path& directory) {
  if (!record::RunDirectory::holds_run(directory)) {
    return std::nullopt;
  }
  try {
    return record::load_run(record::RunDirectory::open(directory));
  } catch (const InputError& error) {
    complain(error.what());
    return std::nullopt;
  }
}

}  // namespace

Verdict close_run(const fs::path& directory, const WhatHappened& happened) {
  wait_for_lock(directory);
  auto run = read_run(directory);
  if (run && is_complete(*run)) {
    return record::load_verdict(record::RunDirectory::open(directory));
  }
  const bool is_new = !run;
  RunData known = run ? std::move(*run) : run_without_beginning(directory, happened);
  auto records = losses_in_the_middle(known, happened);
  for (auto& loss : losses_of(known, directory, happened.absent)) {
    records.emplace_back(std::move(loss));
  }
  records.emplace_back(broken_off(happened.reason, known));
  known = complete(directory, std::move(known), is_new, records);
  const Report report = judged(known);
  write(directory, report);
  print(report, known, happened.json, directory.string());
  // What a full disk let through of it.
  const auto written = record::RunDirectory::holds_run(directory)
                           ? record::load_verdict(record::RunDirectory::open(directory))
                           : Verdict::inconclusive;
  return report.verdict == Verdict::inconclusive ? written : report.verdict;
}

std::vector<std::string> lost_nodes(const fs::path& directory) {
  std::vector<std::string> names;
  if (const auto run = read_run(directory); run && !is_complete(*run)) {
    for (const auto& loss : run->losses) {
      const auto& name = run->header.nodes.at(static_cast<std::size_t>(loss.node)).name;
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return names;
}

}  // namespace fleetbench::cli
