#include "probes/support/mount_of_path.hpp"

#include <gtest/gtest.h>

namespace fleetbench {
namespace {

std::string source_of(const std::string& mountinfo, const std::string& path) {
  const auto mount = mount_of_path(parse_mountinfo(mountinfo), path);
  return mount ? mount->source : "none";
}

const std::string kNode =
    "27 1 254:0 / / rw - ext4 /dev/root rw\n"
    "28 27 8:1 / /data rw - xfs /dev/data rw\n"
    "29 28 0:40 / /data/nfs rw - nfs4 server:/export rw\n"
    "30 27 8:1 /inner /bind rw - xfs /dev/data rw\n"
    "31 27 8:9 / /with\\040space rw - ext4 /dev/space rw\n";

TEST(MountOfPath, TakesTheLongestMountPointOnWholeNames) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"/", "/dev/root"},
      {"/data", "/dev/data"},
      {"/data/x", "/dev/data"},
      {"/database", "/dev/root"},
      {"/data/nfs/a/b", "server:/export"},
      {"/data/nfs2", "/dev/data"},
      {"/bind/x", "/dev/data"},
      {"/with space/x", "/dev/space"},
  };
  for (const auto& [path, source] : table) {
    EXPECT_EQ(source_of(kNode, path), source) << path;
  }
}

TEST(MountOfPath, OfMountsStackedOnOnePointTheTopmostCounts) {
  const std::string stacked = kNode +
                              "40 28 0:50 / /data rw - tmpfs over rw\n"
                              "41 40 0:51 / /data rw - tmpfs top rw\n";
  EXPECT_EQ(source_of(stacked, "/data/x"), "top");
}

TEST(MountOfPath, WhatALaterMountHidesIsNotTaken) {
  // /data was mounted over after /data/nfs: that one cannot be reached any more.
  const std::string hidden = kNode + "40 28 0:50 / /data rw - tmpfs over rw\n";
  EXPECT_EQ(source_of(hidden, "/data/nfs/a"), "over");
  const std::string again = hidden + "42 40 0:52 / /data/nfs rw - nfs4 other:/export rw\n";
  EXPECT_EQ(source_of(again, "/data/nfs/a"), "other:/export");
}

TEST(MountOfPath, InAChrootTheLongestMountPointIsTaken) {
  const std::string no_root =
      "50 7 8:1 / /data rw - xfs /dev/a rw\n51 7 8:2 / /data rw - xfs b rw\n";
  EXPECT_EQ(source_of(no_root, "/data/x"), "b");
  EXPECT_EQ(source_of(no_root, "/other"), "none");
  EXPECT_EQ(source_of("", "/"), "none");
}

TEST(MountOfPath, ARingOfMountsEnds) {
  const std::string ring =
      "1 1 8:0 / / rw - ext4 root rw\n"
      "2 3 8:1 / / rw - ext4 two rw\n"
      "3 2 8:2 / / rw - ext4 three rw\n"
      "2 1 8:3 / / rw - ext4 four rw\n";
  EXPECT_NE(source_of(ring, "/x"), "none");
}

}  // namespace
}  // namespace fleetbench
