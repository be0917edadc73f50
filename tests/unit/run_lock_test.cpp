#include "harness/record/run_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "harness/record/marks.hpp"
#include "harness/record/run_directory.hpp"
#include "results-schema/check.hpp"
#include "temporary_directory.hpp"

namespace fleetbench::record {
namespace {

TEST(RunLock, TwoNeverWriteIntoOneDirectory) {
  const TemporaryDirectory directory;
  std::optional<RunLock> first(directory.path());
  EXPECT_TRUE(is_locked(directory.path()));
  EXPECT_THROW(RunLock second(directory.path()), InputError);
  first.reset();
  EXPECT_FALSE(is_locked(directory.path()));
  EXPECT_NO_THROW(RunLock third(directory.path()));
}

TEST(RunLock, IsGoneWithItsHolderHoweverThatEnds) {
  const TemporaryDirectory directory;
  const pid_t child = fork();
  if (child == 0) {
    const RunLock lock(directory.path());
    _exit(is_locked(directory.path()) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(is_locked(directory.path()));
}

TEST(RunLock, ItsTimeSaysWhenTheHolderWasAlive) {
  const TemporaryDirectory directory;
  EXPECT_EQ(last_alive_ns(directory.path()), std::nullopt);
  const RunLock lock(directory.path());
  const auto before = last_alive_ns(directory.path());
  usleep(20000);
  lock.say_alive();
  EXPECT_GT(last_alive_ns(directory.path()), before);
}

TEST(RunLock, ASecondRunIntoAFolderInUseIsRefused) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "run";
  const auto first = RunDirectory::create(path);
  EXPECT_THROW(RunDirectory::create(path), InputError);
}

TEST(Marks, AreReadAsTheyWereLeft) {
  const TemporaryDirectory directory;
  const OwnMark own(directory.path(), 3, 8);
  const auto marks = read_marks(directory.path());
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].rank, 3);
  EXPECT_EQ(marks[0].ranks, 8);
  EXPECT_FALSE(marks[0].host.empty());
  remove_marks(directory.path());
  EXPECT_TRUE(read_marks(directory.path()).empty());
}

TEST(Marks, WhatIsNoMarkIsPassedOver) {
  const TemporaryDirectory directory;
  const OwnMark own(directory.path(), 0, 1);
  const auto hello = directory.path() / "hello";
  for (const char* ranks : {R"("rank":0,"ranks":2000000000)", R"("rank":5,"ranks":5)",
                            R"("rank":-1,"ranks":5)", R"("rank":0)"}) {
    std::ofstream(hello / "x.0") << R"({"host":"x",)" << ranks << R"(,"addresses":[]})";
    EXPECT_EQ(read_marks(directory.path()).size(), 1U) << ranks;
  }
  std::ofstream(hello / "half") << R"({"host":"x","ra)";
  std::ofstream(hello / "other") << R"({"host":7,"rank":"a"})";
  std::filesystem::create_symlink("/etc/hostname", hello / "link");
  EXPECT_EQ(read_marks(directory.path()).size(), 1U);
}

TEST(WriteInPlace, KeepsTheLengthOfTheFile) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "verdict";
  write_whole(path, "INCONCLUSIVE\n");
  write_in_place(path, "FAIL\n");
  EXPECT_EQ(read_whole(path), "FAIL\n        ");
}

}  // namespace
}  // namespace fleetbench::record
