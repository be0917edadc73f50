#include "harness/gate/watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/record/run_lock.hpp"
#include "temporary_directory.hpp"

namespace fleetbench::gate {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

record::Mark mark(const char* host, int rank, int ranks = 3) {
  record::Mark result;
  result.host = host;
  result.rank = rank;
  result.ranks = ranks;
  result.addresses = {std::string("10.0.0.") + std::to_string(rank + 1)};
  return result;
}

TEST(WithoutMark, HostsAreKnownByNameOrAddress) {
  EXPECT_THAT(without_mark({"a", "b.lab", "10.0.0.3", "10.0.0.9"},
                           {mark("a.lab", 0), mark("b", 1), mark("c", 2)}),
              ElementsAre("10.0.0.9"));
  EXPECT_THAT(without_mark({"node1"}, {mark("node10", 0)}), ElementsAre("node1"));
}

TEST(WithoutMark, WhereNoHostIsExpectedRanksAreMissed) {
  EXPECT_THAT(without_mark({}, {mark("a", 0), mark("c", 2)}), ElementsAre("rank 1"));
  EXPECT_THAT(without_mark({}, {}), IsEmpty());
}

TEST(NamedIn, OnlyWholeNames) {
  const std::string text =
      "ssh: connect to host node1.lab port 22: No route to host\nnode20: lost.";
  EXPECT_THAT(named_in(text, {"node1", "node2", "node20"}), ElementsAre("node1", "node20"));
  EXPECT_THAT(named_in("10.0.0.12 is gone", {"10.0.0.1", "10.0.0.12"}), ElementsAre("10.0.0.12"));
}

std::string text_of(const std::filesystem::path& path) {
  std::string text;
  std::getline(std::ifstream(path), text);
  return text;
}

Outcome watch(const TemporaryDirectory& directory, const std::string& script,
              milliseconds launch_limit, milliseconds limit, int stop = 0) {
  Launcher launcher({"/bin/sh", "-c", script});
  std::atomic<int> stop_requested = stop;
  const auto now = Clock::now();
  return Watch({.directory = directory.path(),
                .hosts = {"here", "elsewhere"},
                .launch_until = now + launch_limit,
                .until = now + limit},
               launcher, stop_requested, [](const std::string&) {})
      .run();
}

TEST(Watch, ALauncherThatEndsHasItsWay) {
  const TemporaryDirectory directory;
  const auto outcome = watch(directory, "exit 3", milliseconds(5000), milliseconds(5000));
  EXPECT_EQ(outcome.ended_because, "");
  EXPECT_FALSE(outcome.came_up);
  EXPECT_THAT(outcome.absent, IsEmpty());
}

TEST(Watch, WhomTheLauncherNamesAsItFailsIsAbsent) {
  const TemporaryDirectory directory;
  const auto outcome =
      watch(directory, "echo 'ssh: connect to host elsewhere port 22: No route' >&2",
            milliseconds(5000), milliseconds(5000));
  EXPECT_THAT(outcome.absent, ElementsAre("elsewhere"));
}

TEST(Watch, ALaunchThatHangsIsEndedAndTheMissingAreNamed) {
  const TemporaryDirectory directory;
  const record::OwnMark own(directory.path(), 0, 2);
  auto marks = record::read_marks(directory.path());
  ASSERT_EQ(marks.size(), 1U);
  const auto start = Clock::now();
  Launcher launcher({"/bin/sh", "-c", "trap '' TERM; sleep 60"});
  std::atomic<int> stop = 0;
  const auto outcome = Watch({.directory = directory.path(),
                              .hosts = {marks[0].host, "elsewhere"},
                              .launch_until = start + milliseconds(300),
                              .until = start + std::chrono::hours(1)},
                             launcher, stop, [](const std::string&) {})
                           .run();
  EXPECT_THAT(outcome.ended_because, testing::HasSubstr("--launch-limit"));
  EXPECT_THAT(outcome.absent, ElementsAre("elsewhere"));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
}

TEST(Watch, TheEndOfTheTimeAndASignalEndTheLauncher) {
  const TemporaryDirectory directory;
  EXPECT_THAT(watch(directory, "sleep 60", milliseconds(9000), milliseconds(200)).ended_because,
              testing::HasSubstr("--budget"));
  EXPECT_THAT(watch(directory, "sleep 60", milliseconds(9000), milliseconds(9000), 1).ended_because,
              testing::HasSubstr("signal"));
}

TEST(Watch, ARootThatIsGoneLeavesNobodyWaiting) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "run.json") << "{}";
  auto lock = std::make_optional<record::RunLock>(directory.path());
  Launcher launcher({"/bin/sh", "-c", "sleep 60"});
  std::atomic<int> stop = 0;
  const auto start = Clock::now();
  Watch watch({.directory = directory.path(),
               .hosts = {},
               .launch_until = start + std::chrono::hours(1),
               .until = start + std::chrono::hours(1)},
              launcher, stop, [](const std::string&) {});
  std::thread root([&] {
    std::this_thread::sleep_for(milliseconds(700));
    lock.reset();
  });
  const auto outcome = watch.run();
  root.join();
  EXPECT_TRUE(outcome.came_up);
  EXPECT_THAT(outcome.ended_because, testing::HasSubstr("gone"));
}

// Its lock is out of sight then, and that is no sign of its end.
TEST(Watch, ARemovedFolderTellsNothingOfTheRoot) {
  const TemporaryDirectory directory;
  const auto run = directory.path() / "run";
  std::filesystem::create_directory(run);
  std::ofstream(run / "run.json") << "{}";
  const record::RunLock lock(run);
  Launcher launcher({"/bin/sh", "-c", "sleep 6"});
  std::atomic<int> stop = 0;
  Watch watch({.directory = run,
               .hosts = {},
               .launch_until = Clock::now() + std::chrono::hours(1),
               .until = Clock::now() + std::chrono::hours(1)},
              launcher, stop, [](const std::string&) {});
  std::thread somebody([&] {
    std::this_thread::sleep_for(milliseconds(700));
    std::filesystem::remove_all(run);
  });
  const auto outcome = watch.run();
  somebody.join();
  EXPECT_TRUE(outcome.came_up);
  EXPECT_EQ(outcome.ended_because, "");
  EXPECT_FALSE(outcome.root_lost);
}

TEST(Launcher, WhatWentIntoASessionOfItsOwnEndsWithIt) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "pid";
  Launcher launcher({"sh", "-c", "setsid sleep 61 & echo $! > " + file.string() + "; sleep 62"});
  while (launcher.turn() && text_of(file).empty()) {
  }
  const pid_t child = std::stoi(text_of(file));
  launcher.end(0.2);
  EXPECT_NE(kill(child, 0), 0);
}

TEST(LostDaemon, IsTheRemoteOneNotTheLaunchersOwn) {
  EXPECT_EQ(lost_daemon("  Remote daemon: [[22711,0],3] on node node2"), "node2");
  EXPECT_EQ(lost_daemon("  HNP daemon   : [[22711,0],0] on node head"), "");
  EXPECT_EQ(lost_daemon("a Remote daemon: nowhere"), "");
}

TEST(Launcher, KeepsItsLastWords) {
  Launcher launcher({"sh", "-c", "for i in $(seq 1 50); do echo line $i >&2; done; exit 5"});
  while (launcher.turn()) {
  }
  EXPECT_THAT(launcher.last_words(), testing::EndsWith("line 50"));
  EXPECT_THAT(launcher.last_words(), testing::Not(testing::HasSubstr("line 20\n")));
  EXPECT_EQ(launcher.how_it_ended(), "exited with code 5");
}

}  // namespace
}  // namespace fleetbench::gate
