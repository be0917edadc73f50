#include "results-schema/together.hpp"

#include <gtest/gtest.h>

namespace fleetbench {
namespace {

SampleRecord sample_of(const std::string& device, std::vector<End> ends) {
  SampleRecord sample;
  sample.device = device;
  sample.ends = std::move(ends);
  return sample;
}

TEST(Together, AreThoseOfOneRail) {
  const std::vector<End> ends{{0, "gpu1"}, {1, "gpu1"}};
  EXPECT_EQ(together_of({}, sample_of("gpu1", ends)).rail, "gpu1");
}

TEST(Together, AreAllOfATeamThatLacksSomeGpus) {
  const std::vector<End> ends{{0, "gpu0"}, {0, "gpu1"}, {1, "gpu1"}};
  const Together one = together_of({}, sample_of("gpu0", ends));
  EXPECT_EQ(one.rail, "");
  EXPECT_EQ(one, together_of({}, sample_of("gpu1", ends)));
}

TEST(Together, AreAllWhereNoEndsAreTold) {
  EXPECT_EQ(together_of({}, sample_of("gpu0", {})).rail, "");
}

}  // namespace
}  // namespace fleetbench
