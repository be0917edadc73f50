#include "harness/fleet/whole_node.hpp"

#include <gtest/gtest.h>

namespace fleetbench::fleet {
namespace {

const std::vector<GpuSeat> kTwo{{"gpu0", "GPU-a"}, {"gpu1", "GPU-b"}};

Outcome answer(Status status, Json detail, std::string reason = "") {
  Outcome outcome{.status = status, .reason = std::move(reason)};
  outcome.measurement.detail = std::move(detail);
  outcome.seconds = 3;
  return outcome;
}

TEST(WorkForAll, NamesWhoIsToBeMeasured) {
  const Json work = work_for_all({{"launches", 3}}, kTwo);
  EXPECT_EQ(work.at("launches"), 3);
  EXPECT_EQ(work.at("gpus"),
            Json({{{"label", "gpu0"}, {"uuid", "GPU-a"}}, {{"label", "gpu1"}, {"uuid", "GPU-b"}}}));
}

TEST(OutcomeOfAll, IsSplitByDevice) {
  const Json devices{
      {{"uuid", "GPU-b"}, {"status", "wrong"}, {"reason", "a bit"}, {"detail", {{"x", 1}}}},
      {{"uuid", "GPU-a"}, {"status", "ok"}, {"values", {1.5, nullptr}}, {"detail", {{"x", 2}}}}};
  const Outcome all =
      outcome_of_all(answer(Status::ok, {{"devices", devices}, {"evidence", 7}}), kTwo);
  EXPECT_EQ(all.status, Status::ok);
  ASSERT_EQ(all.devices.size(), 2U);
  EXPECT_EQ(all.devices[0].device, "gpu0");
  EXPECT_EQ(all.devices[0].status, Status::ok);
  EXPECT_EQ(all.devices[0].measurement.values, (Values{1.5, std::nullopt}));
  EXPECT_EQ(all.devices[0].measurement.detail, Json({{"x", 2}, {"evidence", 7}}));
  EXPECT_EQ(all.devices[0].seconds, 3);
  EXPECT_EQ(all.devices[1].device, "gpu1");
  EXPECT_EQ(all.devices[1].status, Status::wrong);
  EXPECT_EQ(all.devices[1].reason, "a bit");
  EXPECT_EQ(all.devices[1].measurement.detail, Json({{"x", 1}, {"evidence", 7}}));
}

TEST(OutcomeOfAll, WhoIsNotNamedHasFailed) {
  const Json devices{{{"uuid", "GPU-a"}, {"status", "ok"}}};
  const Outcome all = outcome_of_all(answer(Status::ok, {{"devices", devices}}), kTwo);
  EXPECT_EQ(all.status, Status::ok);
  EXPECT_EQ(all.devices[1].status, Status::failed);
  EXPECT_FALSE(all.devices[1].reason.empty());
}

TEST(OutcomeOfAll, AnAnswerWithoutDevicesHoldsForAll) {
  for (const Status status : {Status::timeout, Status::skipped, Status::failed, Status::ok}) {
    const Outcome all = outcome_of_all(answer(status, Json(), "so it is"), kTwo);
    EXPECT_EQ(all.status, status);
    EXPECT_EQ(all.reason, "so it is");
    ASSERT_EQ(all.devices.size(), 2U);
    EXPECT_EQ(all.devices[1].status, status);
    EXPECT_EQ(all.devices[1].reason, "so it is");
    EXPECT_EQ(all.devices[1].device, "gpu1");
  }
}

TEST(OutcomeOfAll, IsNotOkWhereNoDeviceIs) {
  const Json devices{{{"uuid", "GPU-a"}, {"status", "failed"}, {"reason", "broken"}},
                     {{"uuid", "GPU-b"}, {"status", "skipped"}, {"reason", "for its sake"}}};
  const Outcome all = outcome_of_all(answer(Status::ok, {{"devices", devices}}), kTwo);
  EXPECT_EQ(all.status, Status::failed);
  EXPECT_EQ(all.reason, "broken");
}

}  // namespace
}  // namespace fleetbench::fleet
