#include "harness/report/collectives_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "harness/report/collectives_data.hpp"
#include "harness/report/escape.hpp"

namespace fleetbench {
namespace {

using report::CollectiveRow;
using report::CollectiveSweepData;

// nccl-tests' getFloatStr (src/util.cu): as many digits behind the point as `width` leaves room
// for.
std::string in_width(double value, int width) {
  if (!std::isfinite(value)) {
    return fmt::format("{:>{}}", "N/A", width);
  }
  int digits = 0;
  for (double power = 1; value >= power; power *= 10) {
    ++digits;
  }
  if (digits < width - 1) {
    return fmt::format("{:{}.{}f}", value, width, digits < width - 2 ? 2 : 1);
  }
  return digits < width + 1 ? fmt::format("{:{}.0f}", value, width)
                            : fmt::format("{:{}.{}e}", value, width, width >= 7 ? 1 : 0);
}

std::string left_out(const char* reason = "N/A") {
  return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", reason, reason, reason, reason);
}

double busbw_GB_s(const CollectiveSweepData& sweep, const CollectiveRow& row) {
  return static_cast<double>(row.bytes) / *row.time_s / 1e9 *
         sweep.rule->busbw_factor(sweep.members);
}

std::string row_text(const CollectiveSweepData& sweep, const CollectiveRow& row) {
  std::string text = fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", row.bytes, row.count,
                                 "float", sweep.rule->redop, sweep.rule->root);
  if (row.time_s) {
    const double algbw_GB_s = static_cast<double>(row.bytes) / *row.time_s / 1e9;
    text += fmt::format("  {}  {}  {}  {:>6g}", in_width(*row.time_s * 1e6, 7),
                        in_width(algbw_GB_s, 6), in_width(busbw_GB_s(sweep, row), 6), row.wrong);
  } else {
    text += fmt::format("  {:>7}  {:>6}  {:>6}  {:>6g}", "N/A", "N/A", "N/A", row.wrong);
  }
  return text + left_out() + "\n";
}

std::string parameter(const Json& params, const char* name) {
  return params.is_object() && params.contains(name) && params.at(name).is_number()
             ? params.at(name).dump()
             : "?";
}

// "gpu3" is device 3.
std::string rank_line(const RunData& run, const End& end, std::size_t rank) {
  const NodeInfo& node = run.header.nodes.at(static_cast<std::size_t>(end.node));
  const std::string_view label = end.device;
  const std::string_view number = label.starts_with("gpu") ? label.substr(3) : label;
  const std::string device =
      label.empty() ? "" : fmt::format(" device {:>2}", report::escaped(std::string(number)));
  return fmt::format("#  Rank {:2} Group  0 on {:>10}{}\n", rank, report::escaped(node.name),
                     device);
}

std::string how_it_was_timed(const StepRecord& step) {
  return step.probe == "nccl_collectives"
             ? "# Calls of NCCL on device memory, timed by events on their stream"
             : "# Blocking calls of MPI on host memory";
}

std::string head(const RunData& run, const CollectiveSweepData& sweep) {
  const bool on_gpus = !sweep.ranks.empty() && !sweep.ranks.front().device.empty();
  const Json& params = sweep.step->params;
  std::string text = fmt::format(
      "# fleetbench {}, run {}, step {}\n"
      "# Collective test starting: {}\n"
      "# nThread 1 nGpus {} minBytes {} maxBytes {} step: {}(factor) warmup iters: {} iters: {} "
      "agg iters: 1 validation: 1 graph: 0\n"
      "{}; fewer iterations where a size took over {} s\n"
      "# Times: mean over {} ranks, median of {} {}\n"
      "#\n"
      "# Using {}\n",
      report::escaped(run.header.version), report::escaped(run.header.run_id),
      report::escaped(sweep.step->id), sweep.rule->name, on_gpus ? 1 : 0,
      parameter(params, "begin_bytes"), parameter(params, "end_bytes"), parameter(params, "factor"),
      parameter(params, "warmup"), parameter(params, "iterations"), how_it_was_timed(*sweep.step),
      parameter(params, "max_s"), sweep.members, sweep.passes,
      sweep.passes == 1 ? "pass" : "passes", on_gpus ? "devices" : "nodes");
  for (std::size_t rank = 0; rank < sweep.ranks.size(); ++rank) {
    text += rank_line(run, sweep.ranks[rank], rank);
  }
  return text + "#\n";
}

std::string column_names() {
  constexpr auto kNames =
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}  "
      "{:>7}  {:>6}  {:>6}  {:>6}\n";
  constexpr auto kUnits =
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}  "
      "{:>7}  {:>6}  {:>6}\n";
  return fmt::format(
             "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}           out-of-place                "
             "       in-place\n",
             "", "", "", "", "") +
         fmt::format(kNames, "size", "count", "type", "redop", "root", "time", "algbw", "busbw",
                     "#wrong", "time", "algbw", "busbw", "#wrong") +
         fmt::format(kUnits, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "",
                     "(us)", "(GB/s)", "(GB/s)");
}

std::string foot(const CollectiveSweepData& sweep) {
  double wrong = 0;
  double sum_GB_s = 0;
  int timed = 0;
  for (const CollectiveRow& row : sweep.rows) {
    wrong += row.wrong;
    if (row.time_s) {
      sum_GB_s += busbw_GB_s(sweep, row);
      ++timed;
    }
  }
  return fmt::format("# {:<20} : {:g} {}\n# {:<20} : {}\n#\n# Collective test concluded: {}\n",
                     "Out of bounds values", wrong, wrong > 0 ? "FAILED" : "OK",
                     "Avg bus bandwidth", timed > 0 ? fmt::format("{:g}", sum_GB_s / timed) : "N/A",
                     sweep.rule->name);
}

}  // namespace

std::string collectives_table(const RunData& run) {
  std::string text;
  for (const CollectiveSweepData& sweep : report::collective_sweeps(run)) {
    text += (text.empty() ? "" : "\n") + head(run, sweep) + column_names();
    for (const CollectiveRow& row : sweep.rows) {
      text += row_text(sweep, row);
    }
    text += foot(sweep);
  }
  return text;
}

}  // namespace fleetbench
