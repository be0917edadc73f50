#include "probes/support/nfs_stats.hpp"

#include <gmock/gmock.h>

namespace fleetbench {
namespace {

std::string mount_text(const std::string& point, const std::string& operations) {
  return "device server:/export mounted on " + point +
         " with fstype nfs4 statvers=1.1\n"
         "\topts:\trw,vers=4.2,rsize=1048576,proto=tcp,addr=10.0.0.1\n"
         "\tage:\t1234\n"
         "\tevents:\t5 10 0 0 1 2 3 0 0 4\n"
         "\tbytes:\t100 200 0 0 100 200 1 2\n"
         "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
         "\txprt:\ttcp 0 0 1 0 0 10 10 0 10 0 2 0 0\n"
         "\tper-op statistics\n" +
         operations + "\n";
}

const std::string kBefore = "device /dev/root mounted on / with fstype ext4\n" +
                            mount_text("/mnt/other", "\t        READ: 1 1 0 1 1 1 1 1 0\n") +
                            mount_text("/mnt/data\\040set",
                                       "\t        NULL: 1 1 0 44 24 0 0 0 0\n"
                                       "\t        READ: 100 101 1 7800 2097152 5 200 250 0\n"
                                       "\t       WRITE: 10 10 0 900 100 0 20 30\n"
                                       "\t     GETATTR: 50 50 0 100 100 0 50 50 0\n");
const std::string kAfter = mount_text("/mnt/data\\040set",
                                      "\t        NULL: 1 1 0 44 24 0 0 0 0\n"
                                      "\t        READ: 200 205 2 15600 4194304 10 600 850 0\n"
                                      "\t       WRITE: 20 20 0 1800 200 0 50 80\n"
                                      "\t     GETATTR: 5 5 0 10 10 0 5 5 0\n"
                                      "\t        OPEN: 4 4 0 10 10 0 8 12 0\n");

TEST(NfsStats, ReadsTheOperationsOfOneMount) {
  const auto counters = nfs_counters(kBefore, "/mnt/data set");
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->size(), 4U);
  const NfsOperation& read = counters->at("READ");
  EXPECT_EQ(read.operations, 100U);
  EXPECT_EQ(read.transmissions, 101U);
  EXPECT_EQ(read.timeouts, 1U);
  EXPECT_EQ(read.bytes_sent, 7800U);
  EXPECT_EQ(read.bytes_received, 2097152U);
  EXPECT_EQ(read.queue_ms, 5U);
  EXPECT_EQ(read.rtt_ms, 200U);
  EXPECT_EQ(read.execute_ms, 250U);
  EXPECT_EQ(counters->at("WRITE").execute_ms, 30U);  // eight numbers, before Linux 5.0
}

TEST(NfsStats, WhatIsNoNfsMountHasNone) {
  EXPECT_FALSE(nfs_counters(kBefore, "/"));
  EXPECT_FALSE(nfs_counters(kBefore, "/mnt/data"));
  EXPECT_FALSE(nfs_counters("", "/"));
}

TEST(NfsStats, LinesOfAnotherFormAreLeftOut) {
  const auto counters =
      nfs_counters(mount_text("/mnt",
                              "\tREAD: 1 2 3\n\tWRITE: 1 2 3 4 5 6 7 x\n\tOPEN: 1 1 0 -4 5 6 7 8\n"
                              "\tCLOSE 1 1 0 4 5 6 7 8\n"),
                   "/mnt");
  ASSERT_TRUE(counters);
  EXPECT_TRUE(counters->empty());
}

TEST(NfsStats, ActivityIsWhatHappenedInBetween) {
  const auto activity =
      nfs_activity(*nfs_counters(kBefore, "/mnt/data set"), *nfs_counters(kAfter, "/mnt/data set"));
  EXPECT_EQ(activity.size(), 3U);  // not NULL, which was idle, nor GETATTR, which went back
  EXPECT_EQ(activity.at("READ").at("operations"), 100);
  EXPECT_EQ(activity.at("READ").at("sent_again"), 4);
  EXPECT_EQ(activity.at("READ").at("timeouts"), 1);
  EXPECT_DOUBLE_EQ(activity.at("READ").at("rtt_s"), 0.004);
  EXPECT_DOUBLE_EQ(activity.at("READ").at("execute_s"), 0.006);
  EXPECT_DOUBLE_EQ(activity.at("WRITE").at("rtt_s"), 0.003);
  EXPECT_EQ(activity.at("OPEN").at("operations"), 4);
}

}  // namespace
}  // namespace fleetbench
