// Rails and links on rails that are measured again.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "harness/detect/confirm.hpp"
#include "harness/simulate/pair_fleet.hpp"

namespace fleetbench {
namespace {

// Of eight nodes with two rails; `fault` is the first suspect.
RunData rails_with(simulation::PairFault fault) {
  return simulation::simulate_pairs(
             {.nodes = 8, .rails = 2, .noise = 0.01, .fault = fault, .effect = 0.5}, 4)
      .run;
}

// Every pair of the fleet as it was in pass 0, `again` times as fast for the suspect.
void measure_rails_again(RunData& run, const ConfirmRecord& record, double again) {
  add_record(run, record);
  const Comparison& compared = record.compared.at(0);
  const std::vector<SampleRecord> samples = run.samples;
  for (int pair = 0; pair < kPairs; ++pair) {
    for (SampleRecord sample : samples) {
      if (sample.pass != 0 || sample.step != record.step || sample.confirms) {
        continue;
      }
      const bool suspect =
          std::ranges::count(sample.ends, End{compared.node, compared.device}) > 0 &&
          (!compared.peer || sample.peer == compared.peer);
      for (auto& value : sample.values) {
        value = value ? std::optional(*value * (suspect ? again : 1) * (1 + 1e-5 * pair)) : value;
      }
      sample.pass = pair;
      sample.confirms = record.confirm;
      add_record(run, sample);
    }
  }
}

TEST(Confirmation, OfARailComparesRailsOfItsName) {
  for (const auto fault : {simulation::PairFault::rail, simulation::PairFault::link}) {
    const RunData run = rails_with(fault);
    const Report before = analyze(run);
    const Subject& subject = before.findings.at(0).subject;
    EXPECT_EQ(subject.kind, fault == simulation::PairFault::rail ? "rail" : "link");
    ASSERT_FALSE(subject.rail.empty());
    const auto records = suspects_to_confirm(run, before);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].pairs, kPairs) << records[0].reason;
    EXPECT_EQ(records[0].compared[0].device, subject.rail);
    RunData slow = run;
    measure_rails_again(slow, records[0], 1);
    EXPECT_EQ(analyze(slow).findings.at(0).subject, subject);
    EXPECT_EQ(analyze(slow).findings.at(0).status, FindingStatus::confirmed);
    EXPECT_EQ(analyze(slow).verdict, Verdict::fail);
    RunData well = run;
    measure_rails_again(well, records[0], 1.5);
    EXPECT_EQ(analyze(well).findings.at(0).status, FindingStatus::not_reproduced);
  }
}

}  // namespace
}  // namespace fleetbench
