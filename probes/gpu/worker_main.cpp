// fleetbench-gpu-worker: the child process that measures one GPU.
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "probes/gpu/registry.hpp"
#include "probes/support/serve.hpp"
#include "results-schema/version.hpp"

// fleetbench-gpu-worker --serve PARENT_PID [UUID]
int main(int argc, char** argv) {
  int parent = 0;
  if (argc >= 3 && argc <= 4 && std::strcmp(argv[1], "--serve") == 0) {
    std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), parent);
  }
  if (parent <= 0) {
    fmt::print(stderr,
               "fleetbench-gpu-worker {}: started by fleetbench for each GPU, not by hand.\n"
               "Run `fleetbench --help` instead.\n",
               fleetbench::kVersion);
    return 64;
  }
  fleetbench::bind_to_parent(parent);
  const fleetbench::gpu::AssignedGpu assigned(argc == 4 ? argv[3] : "");
  return fleetbench::serve(fleetbench::gpu::gpu_probes(assigned), [] {
    return fleetbench::gpu::is_nccl_stuck() || fleetbench::gpu::is_process_spoiled();
  });
}
