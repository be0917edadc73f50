// What a recorded run means, and how a command says so.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "results-schema/baseline.hpp"
#include "results-schema/report.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::cli {

// The detector's report, with warnings about how the run was launched added to its notes.
Report judge(const RunData& run, const std::map<Layer, double>& min_effect,
             std::shared_ptr<const Baseline> baseline = nullptr);

// Prints the summary with the matrices of pairs that its findings are about, or report.json alone.
// `where` is the folder of the run, empty where it has none.
void print(const Report& report, const RunData& run, bool json, const std::string& where);

// Under a launcher: 0, 2, 3, or 4 for WARN with exit_on_warn.
int run_exit_code(Verdict verdict, bool exit_on_warn);

}  // namespace fleetbench::cli
