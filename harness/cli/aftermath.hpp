// What the gate makes of a run directory once the launcher is gone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results-schema/report.hpp"

namespace fleetbench::cli {

struct WhatHappened {
  std::vector<std::string> hosts;   // expected
  std::vector<std::string> absent;  // that did not come up
  std::vector<std::string> lost;    // nodes that the launcher lost while it ran
  bool root_lost = false;           // the rank that led the run is gone
  std::string reason;               // how the run broke off
  bool json = false;
};

// The verdict of the run in this folder. A run that was completed has said everything itself. Of
// one that broke off, or never began, this completes the record (who did not come up, why it broke
// off), judges what was measured, writes the report and prints it.
Verdict close_run(const std::filesystem::path& directory, const WhatHappened& happened);

// Names of nodes that were lost in it; empty where there is no run to read.
std::vector<std::string> lost_nodes(const std::filesystem::path& directory);

}  // namespace fleetbench::cli
