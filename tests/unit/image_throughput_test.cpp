// Rates, shares and places, of figures that are given.
#include "probes/images/throughput.hpp"

#include <gtest/gtest.h>

#include "probes/images/numa_pair.hpp"

namespace fleetbench::images {
namespace {

Progress progress(int milliseconds, std::uint64_t images) {
  return {std::chrono::steady_clock::time_point(std::chrono::milliseconds(milliseconds)), images};
}

TEST(WindowRates, AreOfImagesDoneBetweenTheirEdges) {
  // Two workers, batches of 10; the first two are the start.
  const std::vector<Progress> made{progress(100, 11), progress(110, 20), progress(200, 31),
                                   progress(210, 40), progress(300, 51), progress(310, 60)};
  const auto rates = window_rates(made, 2, 2);
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_DOUBLE_EQ(rates[0], 200);
  EXPECT_DOUBLE_EQ(rates[1], 200);
  const auto shuffled = std::vector<Progress>{made[3], made[0], made[5], made[2], made[1], made[4]};
  EXPECT_EQ(window_rates(shuffled, 2, 2), rates);
  EXPECT_EQ(window_rates(made, 2, 3).size(), 1U);  // one left over
  EXPECT_EQ(window_rates(made, 1, 1).size(), 5U);
  EXPECT_TRUE(window_rates(made, 2, 5).empty());
  EXPECT_TRUE(window_rates({}, 1, 1).empty());
}

TEST(ProcessIo, IsReadWhereItIsWhatWeKnow) {
  const auto read = parse_process_io("rchar: 300\nwchar: 2\nsyscr: 3\nread_bytes: 4096\n");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->all, 300);
  EXPECT_EQ(read->from_device, 4096);
  for (const char* bad :
       {"", "rchar: 1\n", "read_bytes: 1\n", "rchar: x\nread_bytes: 1\n", "\n\n:"}) {
    EXPECT_FALSE(parse_process_io(bad).has_value()) << bad;
  }
}

TEST(ProcessIo, GivesAShareBetweenNothingAndAll) {
  EXPECT_DOUBLE_EQ(page_cache_share({0, 0}, {1000, 250}), 0.75);
  EXPECT_DOUBLE_EQ(page_cache_share({100, 100}, {1100, 100}), 1);
  EXPECT_DOUBLE_EQ(page_cache_share({0, 0}, {1000, 5000}), 0);  // readahead
  EXPECT_DOUBLE_EQ(page_cache_share({5, 5}, {5, 5}), 1);
}

TEST(Percentile, IsAValueThatWasSeen) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({3}, 0.99), 3);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.5), 2);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.99), 4);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0), 1);
}

TEST(NumaPair, IsFoundWhereThereAreTwoNodes) {
  EXPECT_FALSE(NumaPair::find("numa:1 core:4 pu:2").has_value());
  EXPECT_FALSE(NumaPair::find("no topology").has_value());
  const auto two = NumaPair::find("numa:2 core:4 pu:2");
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->near(), 0);
  EXPECT_EQ(two->far(), 1);
  EXPECT_EQ(two->cores(), 4);
  EXPECT_EQ(NumaPair::find("pack:2 numa:4 core:8 pu:1")->far(), 7);
}

}  // namespace
}  // namespace fleetbench::images
