// A baseline with everything in it.
#pragma once

#include "results-schema/baseline.hpp"

namespace fleetbench {

inline Baseline example_baseline() {
  const BaselineKey gemm{"cpu_gemm.fp64", "cpu_gemm/1-9249c259"};
  const BaselineKey gemm_alone{"cpu_gemm.fp64", "cpu_gemm/1-9249c259-alone"};
  const BaselineKey copy{"gpu_copy.h2d_time", "gpu_copy/2-0c0ffee0"};
  Baseline baseline;
  baseline.created = "2026-05-04T03:02:01Z";
  baseline.runs = {"20260503T000000Z-aaaa", "20260504T000000Z-bbbb"};
  baseline.metrics = {
      {gemm, "", "FLOP/s", Better::higher, Layer::host, 3, 2, 1.5e12, 0.0125, 0.005, 0.0075, 8.5},
      {gemm_alone, "", "FLOP/s", Better::higher, Layer::host, 1, 1, 1.75e12, 0, 0, 0, 0},
      {copy, "H100 80GB", "s", Better::lower, Layer::copy, 2, 1, 0.0025, 0.25, 0.001, 0, 0}};
  baseline.subjects = {{gemm, "node0", "", "", 1.5e12, 2},
                       {gemm, "node1", "", "", 1.25e12, 2},
                       {gemm, "node2\x1b[31m", "", "", 1.625e12, 1},
                       {gemm_alone, "node0", "", "", 1.75e12, 1},
                       {copy, "node7", "gpu0", "H100 80GB", 0.0025, 1},
                       {copy, "node7", "gpu1", "H100 80GB", 0.00375, 1}};
  baseline.inventory = {{"", {{"cpu.cpu_quota_cores", "none"}, {"kernel.release", "6.1.0-18"}}},
                        {"H100 80GB", {{"gpus[0].driver", "550.54"}}}};
  return baseline;
}

}  // namespace fleetbench
