#include <cstdlib>

#include "harness/detect/baseline_build.hpp"
#include "harness/detect/detect.hpp"
#include "harness/report/baseline_text.hpp"
#include "harness/report/collectives_table.hpp"
#include "harness/report/escape.hpp"
#include "harness/report/report.hpp"
#include "results-schema/check.hpp"
#include "tests/fuzz/target.hpp"

namespace fleetbench {

// Line ends are the format's own.
void require_harmless(std::string text) {
  std::erase(text, '\n');
  if (report::escaped(text) != text) {
    std::abort();
  }
}

void judge_and_report(const RunData& run) {
  const Report report = analyze(run);
  require_harmless(summary_text(report));
  require_harmless(report_json(report));
  require_harmless(prometheus_text(report));
  require_harmless(collectives_table(run));
  const Baseline baseline = build_baseline({{&run, &report}}, "2026-05-04T03:02:01Z").baseline;
  require_harmless(baseline_text(baseline));
  // What is written can be read.
  parse_baseline(baseline_json(baseline), "baseline");
}

void judge_what_passes(const std::function<RunData()>& read) {
  RunData run;
  try {
    run = read();
  } catch (const InputError&) {
    return;
  }
  judge_and_report(run);
}

}  // namespace fleetbench
