// Logs of nccl-tests as programs of it print them, made to measure.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace fleetbench::record {

struct NcclExample {
  std::string program = "alltoall_perf";
  std::vector<std::string> nodes{"a", "b"};
  std::vector<std::string> pci{"1b", "9d"};  // of each node
  std::vector<double> busbw_GB_s{10, 20};    // of 1 MiB, 2 MiB, ...
  double in_place = 1;                       // times as fast
  std::string redop = "none";
  int root = -1;
  double factor = 0.75;  // busbw over algbw
  std::string in_place_wrong = "N/A";
};

inline std::string head_of(const NcclExample& log) {
  std::string text = fmt::format(
      "# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n"
      "# Collective test starting: {}\n"
      "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 5\n"
      "#\n# Using devices\n",
      log.program);
  int rank = 0;
  for (const std::string& node : log.nodes) {
    for (std::size_t i = 0; i < log.pci.size(); ++i) {
      text += fmt::format(
          "#  Rank {:2} Group  0 Pid {:6} on {:>10} device {:2} [0000:{}:00] NVIDIA H100\n", rank,
          1000 + rank, node, i, log.pci[i]);
      ++rank;
    }
  }
  return text +
         "#\n#       size         count      type   redop    root     time   algbw   busbw  #wrong "
         " "
         "   time   algbw   busbw  #wrong \n";
}

inline std::string figure_of(double bytes, double busbw, double factor, const std::string& wrong) {
  return fmt::format("  {:7.2f}  {:6.2f}  {:6.2f}  {:>6}", bytes / busbw * factor * 1e-3,
                     busbw / factor, busbw, wrong);
}

inline std::string row_of(const NcclExample& log, std::size_t i, const std::string& wrong = "0") {
  const double bytes = static_cast<double>(std::size_t{1} << (20 + i));
  return fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:>6}", bytes, 4096, "float", log.redop,
                     log.root) +
         figure_of(bytes, log.busbw_GB_s[i], log.factor, wrong) +
         figure_of(bytes, log.busbw_GB_s[i] * log.in_place, log.factor, log.in_place_wrong) + "\n";
}

inline std::string foot_of(const NcclExample& log) {
  double sum = 0;
  for (const double busbw : log.busbw_GB_s) {
    sum += busbw * (1 + log.in_place);
  }
  return fmt::format(
      "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {:g} \n#\n"
      "# Collective test concluded: {}\n\n",
      sum / 2 / static_cast<double>(log.busbw_GB_s.size()), log.program);
}

inline std::string text_of(const NcclExample& log) {
  std::string text = head_of(log);
  for (std::size_t i = 0; i < log.busbw_GB_s.size(); ++i) {
    text += row_of(log, i);
  }
  return text + foot_of(log);
}

}  // namespace fleetbench::record
