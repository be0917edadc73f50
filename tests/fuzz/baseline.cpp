#include <fmt/format.h>

#include <memory>

#include "harness/detect/detect.hpp"
#include "harness/record/long_csv.hpp"
#include "harness/report/baseline_text.hpp"
#include "harness/report/report.hpp"
#include "results-schema/baseline.hpp"
#include "results-schema/check.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace fleetbench;

// Four nodes, as the baselines of the corpus know them.
const RunData& fleet() {
  static const RunData run = [] {
    std::string text = "node,metric,unit,value,pass\n";
    for (int node = 0; node < 4; ++node) {
      for (int pass = 0; pass < 3; ++pass) {
        text += fmt::format("node{},bandwidth,GB/s,{},{}\n", node, 100 + node + pass, pass);
      }
    }
    return record::read_long_csv({{"fleet.csv", text}}).run;
  }();
  return run;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    DetectOptions options;
    options.baseline =
        std::make_shared<const Baseline>(parse_baseline(text_of(data, size), "baseline.json"));
    require_harmless(baseline_text(*options.baseline));
    require_harmless(baseline_json(*options.baseline));
    const Report report = analyze(fleet(), options);
    require_harmless(summary_text(report));
    require_harmless(report_json(report));
    require_harmless(prometheus_text(report));
  } catch (const InputError&) {
  }
  return 0;
}
