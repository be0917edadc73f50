// fleetbench-worker: the child process that measures CPU, storage and input of one node.
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "probes/registry.hpp"
#include "probes/support/blas_kernel.hpp"
#include "probes/support/program.hpp"
#include "probes/support/serve.hpp"
#include "results-schema/version.hpp"

// fleetbench-worker --serve PARENT_PID
int main(int argc, char** argv) {
  int parent = 0;
  if (argc == 3 && std::strcmp(argv[1], "--serve") == 0) {
    std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), parent);
  }
  if (parent <= 0) {
    fmt::print(stderr,
               "fleetbench-worker {}: started by fleetbench on each node, not by hand.\n"
               "Run `fleetbench --help` instead.\n",
               fleetbench::kVersion);
    return 64;
  }
  fleetbench::bind_to_parent(parent);
  fleetbench::end_program_on_sigterm();
  fleetbench::use_vector_kernels(argv);
  return fleetbench::serve(fleetbench::worker_probes());
}
