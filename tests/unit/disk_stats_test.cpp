#include "probes/support/disk_stats.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/temporary_directory.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFourteen =
    "   8       0 sda 100 10 2000 300 50 5 800 400 0 600 700\n"
    "   8       1 sda1 90 10 1900 290 50 5 800 400 0 590 690\n";

TEST(DiskStats, ReadsTheFieldsOfEveryAge) {
  const std::vector<std::string> texts = {
      kFourteen, " 8 0 sda 100 10 2000 300 50 5 800 400 0 600 700 1 0 8 2\n",
      " 8 0 sda 100 10 2000 300 50 5 800 400 0 600 700 1 0 8 2 3 4\n",
      " 8 0 sda 100 10 2000 300 50 5 800 400 0 600 700 1 0 8 2 3 4 5 6\n"};
  for (const std::string& text : texts) {
    const auto counters = disk_counters(text, "sda");
    ASSERT_TRUE(counters) << text;
    EXPECT_EQ(counters->reads, 100U);
    EXPECT_EQ(counters->reads_merged, 10U);
    EXPECT_EQ(counters->sectors_read, 2000U);
    EXPECT_EQ(counters->read_ms, 300U);
    EXPECT_EQ(counters->writes, 50U);
    EXPECT_EQ(counters->writes_merged, 5U);
    EXPECT_EQ(counters->sectors_written, 800U);
    EXPECT_EQ(counters->write_ms, 400U);
    EXPECT_EQ(counters->busy_ms, 600U);
    EXPECT_EQ(counters->weighted_ms, 700U);
  }
  EXPECT_EQ(disk_counters(kFourteen, "sda1")->reads, 90U);
}

TEST(DiskStats, ReadsTheFileOfOneDisk) {
  for (const char* text : {"100 10 2000 300 50 5 800 400 0 600 700\n",
                           " 100 10 2000 300 50 5 800 400 0 600 700 1 0 8 2\n",
                           " 100 10 2000 300 50 5 800 400 0 600 700 1 0 8 2 3 4\n"}) {
    const auto counters = disk_counters_of_stat(text);
    ASSERT_TRUE(counters) << text;
    EXPECT_EQ(counters->busy_ms, 600U);
  }
}

TEST(DiskStats, WhatHasAnotherFormIsAbsent) {
  for (const char* text :
       {"", "\n", "8 0 sda\n", "8 1 sda1 1 2 3 4\n", "8 0 sdb 1 2 3 4 5 6 7 8 9 10 11\n",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10\n", "8 0 sda 1 2 3 4 5 x 7 8 9 10 11\n",
        "8 0 sda 1 2 3 4 5 -6 7 8 9 10 11\n",
        "8 0 sda 1 2 3 4 5 99999999999999999999999 7 8 9 10 11\n"}) {
    EXPECT_FALSE(disk_counters(text, "sda")) << text;
  }
  EXPECT_FALSE(disk_counters_of_stat("1 2 3 4"));
  EXPECT_FALSE(disk_counters("8 1 sda1 1 2 3 4\n", "sda1"));
}

TEST(DiskStats, RatesAreThoseOfIostat) {
  const auto before = *disk_counters(kFourteen, "sda");
  const auto after = *disk_counters(
      "8 0 sda 300 10 402000 1300 150 5 200800 900 0 1600 2700 0 0 0 0 0 0\n", "sda");
  const auto rates = disk_rates(before, after, 2);
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->r_per_s, 100);
  EXPECT_DOUBLE_EQ(rates->w_per_s, 50);
  EXPECT_DOUBLE_EQ(rates->r_bytes_per_s, 400000 * 512 / 2.0);
  EXPECT_DOUBLE_EQ(rates->w_bytes_per_s, 200000 * 512 / 2.0);
  EXPECT_DOUBLE_EQ(*rates->r_await_s, 0.005);
  EXPECT_DOUBLE_EQ(*rates->w_await_s, 0.005);
  EXPECT_DOUBLE_EQ(*rates->r_request_bytes, 2000 * 512);
  EXPECT_DOUBLE_EQ(*rates->w_request_bytes, 2000 * 512);
  EXPECT_DOUBLE_EQ(rates->queue, 1);
  EXPECT_DOUBLE_EQ(rates->busy, 0.5);
}

TEST(DiskStats, ADiskThatDidNothingHasNoWait) {
  const auto counters = *disk_counters(kFourteen, "sda");
  const auto rates = disk_rates(counters, counters, 1);
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->r_per_s, 0);
  EXPECT_FALSE(rates->r_await_s);
  EXPECT_FALSE(rates->w_request_bytes);
  EXPECT_EQ(rates->busy, 0);
}

TEST(DiskStats, CountersThatWrapAroundGoOn) {
  DiskCounters before{.reads = 4294967290, .read_ms = 4294967200, .busy_ms = 4294967000};
  const DiskCounters after{.reads = 4, .read_ms = 4, .busy_ms = 204};
  const auto rates = disk_rates(before, after, 1);
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->r_per_s, 10);
  EXPECT_DOUBLE_EQ(*rates->r_await_s, 0.01);
  EXPECT_DOUBLE_EQ(rates->busy, 0.5);
}

TEST(DiskStats, CountersThatWentBackAndTimesThatAreNoneGiveNoRates) {
  const DiskCounters high{.reads = 1000000};
  const DiskCounters low{.reads = 10};
  EXPECT_FALSE(disk_rates(high, low, 1));
  EXPECT_FALSE(disk_rates({.reads = std::uint64_t{1} << 40U}, low, 1));
  EXPECT_FALSE(disk_rates(low, high, 0));
  EXPECT_FALSE(disk_rates(low, high, -1));
}

TEST(DiskStats, APartitionIsOnItsDisk) {
  const TemporaryDirectory root;
  const fs::path disk = root.path() / "sys/devices/pci0000:00/block/nvme0n1";
  fs::create_directories(disk / "nvme0n1p2");
  std::ofstream(disk / "nvme0n1p2" / "partition") << "2\n";
  fs::create_directories(root.path() / "sys/dev/block");
  const fs::path links = root.path() / "sys/dev/block";
  fs::create_symlink("../../devices/pci0000:00/block/nvme0n1/nvme0n1p2", links / "259:2");
  fs::create_symlink("../../devices/pci0000:00/block/nvme0n1", links / "259:0");
  const HostFiles files(root.path());
  EXPECT_EQ(disk_of_device(files, 259, 2), "nvme0n1");
  EXPECT_EQ(disk_of_device(files, 259, 0), "nvme0n1");
  EXPECT_FALSE(disk_of_device(files, 259, 7));
  EXPECT_FALSE(disk_of_device(files, 0, 45));
}

}  // namespace
}  // namespace fleetbench
