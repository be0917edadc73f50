// What happens when a process loads the simulation and when it ends.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tests/gpu_sim/model/model.hpp"

namespace gpu_sim {

namespace {

// A wrong setting shall end every process that loads the simulation, also one that never calls it.
[[gnu::constructor]] void read_settings() { Model::get(); }

// After all destructors of the program, which may still give something back.
[[gnu::destructor]] void report_leaks() {
  const std::string leaks = Model::get().leaks();
  if (leaks.empty()) {
    return;
  }
  std::fprintf(stderr, "gpu_sim: not given back: %s\n", leaks.c_str());
  const std::string& file = Model::get().settings.leaks_file;
  if (!file.empty()) {
    std::ofstream(file, std::ios::app) << getpid() << ": " << leaks << '\n';
  }
}

}  // namespace

}  // namespace gpu_sim
