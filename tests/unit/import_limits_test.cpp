// What a file that would not fit into memory is refused by, whatever its rows say.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/record/sample_rows.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// A row of each of so many nodes.
SampleRows rows_of(int nodes, Status status) {
  SampleRows rows;
  rows.files.emplace_back("a.csv");
  rows.steps.number("");
  rows.metrics.push_back(
      {.step = 0, .name = "time", .unit = "ms", .better = Better::lower, .layer = Layer::compute});
  for (int node = 0; node < nodes; ++node) {
    rows.rows.push_back({.line = node + 2,
                         .metric = 0,
                         .node = rows.nodes.number(fmt::format("n{}", node)),
                         .status = status,
                         .value = 1});
  }
  return rows;
}

TEST(ImportLimits, AreNotReachedBySoMany) {
  for (const Status status : {Status::ok, Status::failed}) {
    const auto samples = assemble(rows_of(4, status), {.places = 4, .samples = 4});
    EXPECT_EQ(samples.run.samples.size(), 4U);
  }
}

TEST(ImportLimits, OfSamplesHoldForThoseThatFailedToo) {
  for (const Status status : {Status::ok, Status::failed}) {
    EXPECT_THAT([status] { assemble(rows_of(5, status), {.samples = 4}); },
                ThrowsMessage<InputError>(HasSubstr("a.csv: more than 4 samples")));
  }
}

TEST(ImportLimits, OfPlacesHoldForValues) {
  EXPECT_THAT([] { assemble(rows_of(5, Status::ok), {.places = 4}); },
              ThrowsMessage<InputError>(HasSubstr("a.csv: too many different metrics")));
}

}  // namespace
}  // namespace fleetbench::record
