#include <gmock/gmock.h>

#include "harness/detect/slow_sizes.hpp"

namespace fleetbench::detect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Seconds, of a link of 10 us and 10 GB/s.
double time_of(double bytes, double latency, double bandwidth) {
  return 10e-6 * latency + bytes / 10e9 * bandwidth;
}

std::vector<SizePoint> sweep(double latency, double bandwidth, double from = 8, double to = 1e9) {
  std::vector<SizePoint> points;
  for (double bytes = from; bytes <= to; bytes *= 8) {
    points.push_back({bytes, time_of(bytes, latency, bandwidth), time_of(bytes, 1, 1)});
  }
  return points;
}

TEST(SlowSizes, LatencyAndBandwidthAreToldApart) {
  for (const auto& [latency, bandwidth] :
       {std::pair(1.5, 1.0), std::pair(1.0, 1.3), std::pair(2.0, 2.0), std::pair(1.0, 1.0)}) {
    const auto shares = shares_by_size(sweep(latency, bandwidth));
    ASSERT_TRUE(shares);
    EXPECT_NEAR(shares->latency, latency - 1, 1e-6);
    EXPECT_NEAR(shares->bandwidth, bandwidth - 1, 1e-6);
  }
}

TEST(SlowSizes, WhatSizesDoNotShowIsNotSaid) {
  EXPECT_FALSE(shares_by_size({}));
  EXPECT_FALSE(shares_by_size(sweep(2, 1, 8, 600))) << "three sizes";
  EXPECT_FALSE(shares_by_size(sweep(2, 1, 8, 5000))) << "latency alone";
  EXPECT_FALSE(shares_by_size(sweep(1, 2, 33554432, 1e12))) << "bandwidth alone";
  std::vector<SizePoint> same(5, {1e6, 1e-4, 1e-4});
  EXPECT_FALSE(shares_by_size(same));
}

// What the evidence says of a subject that is slow in the sizes where it is by 5 % or more.
std::vector<std::string> told(double latency, double bandwidth, const std::string& prefix,
                              Direction direction = Direction::slow) {
  std::vector<MetricSummary> metrics{{.metric = "cpu_gemm.fp64", .median = 1e9}};
  std::vector<Finding> findings(1);
  findings[0].direction = direction;
  for (const auto& [name, bytes] :
       {std::pair("8", 8.0), std::pair("4K", 4096.0), std::pair("1M", 1048576.0),
        std::pair("16777216", 16777216.0), std::pair("1G", 1073741824.0)}) {
    const double peers = bytes / time_of(bytes, 1, 1);
    const double own = bytes / time_of(bytes, latency, bandwidth);
    metrics.push_back({.metric = prefix + name, .median = peers});
    if (peers / own > 1.05) {
      findings[0].metrics.push_back({prefix + name, "B/s", own, peers, 0});
    }
  }
  tell_slow_sizes(metrics, findings);
  std::vector<std::string> texts;
  for (const Evidence& evidence : findings[0].evidence) {
    texts.push_back(evidence.text);
  }
  return texts;
}

TEST(SlowSizes, FindingsSayWhichItIs) {
  EXPECT_THAT(told(1.5, 1, "nccl.all_reduce.busbw."),
              ElementsAre(HasSubstr("nccl.all_reduce.busbw: latency, not bandwidth: each call "
                                    "takes 50 % longer")));
  EXPECT_THAT(told(1, 1.3, "busbw."),
              ElementsAre(HasSubstr("busbw: bandwidth, not latency: each byte takes 30 % longer")));
  EXPECT_THAT(told(2, 2, "busbw."), ElementsAre(HasSubstr("latency and bandwidth: ")));
  EXPECT_THAT(told(1.5, 1, "read."), IsEmpty()) << "no bandwidth of sizes";
  EXPECT_THAT(told(1.5, 1, "busbw.", Direction::fast), IsEmpty());
}

}  // namespace
}  // namespace fleetbench::detect
