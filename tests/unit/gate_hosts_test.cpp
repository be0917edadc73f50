#include "harness/gate/hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results-schema/check.hpp"

namespace fleetbench::gate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::optional<std::string> no_file(const std::string&) { return std::nullopt; }

std::optional<std::string> host_file(const std::string& path) {
  return path == "hosts" ? std::optional<std::string>("# rack 1\nn1 slots=2\n\nn2:4 # spare\nn1\n")
                         : std::nullopt;
}

TEST(ExpandHosts, ListsAndRanges) {
  EXPECT_THAT(expand_hosts("a,b:2,a"), ElementsAre("a", "b"));
  EXPECT_THAT(expand_hosts("n[08-11,20],x"), ElementsAre("n08", "n09", "n10", "n11", "n20", "x"));
  EXPECT_THAT(expand_hosts("r[1-2].lab"), ElementsAre("r1.lab", "r2.lab"));
  EXPECT_THAT(expand_hosts("fd00::1,fd00::2"), ElementsAre("fd00::1", "fd00::2"));
}

TEST(ExpandHosts, WhatIsNoRangeIsNamed) {
  for (const char* list : {"n[1-", "n[5-2]", "n[a-b]", "n[1-99999999999]", "n[0-999999999]"}) {
    EXPECT_THROW(expand_hosts(list), InputError) << list;
  }
}

TEST(HostsOf, OnlyTheLaunchersOptionsCount) {
  EXPECT_THAT(hosts_of({"mpirun", "--host", "a,b", "fleetbench", "--host", "c"}, no_file),
              ElementsAre("a", "b"));
  EXPECT_THAT(hosts_of({"mpirun", "-hostfile", "hosts", "./build/fleetbench"}, host_file),
              ElementsAre("n1", "n2"));
  EXPECT_THAT(hosts_of({"srun", "fleetbench"}, no_file), IsEmpty());
}

TEST(ProgramPosition, ACommandWithoutFleetbenchIsRefused) {
  EXPECT_EQ(program_position({"mpirun", "/opt/bin/fleetbench", "run"}), 1U);
  EXPECT_THROW(program_position({"mpirun", "hostname"}), InputError);
}

TEST(Argument, BothWaysOfWritingIt) {
  EXPECT_EQ(argument({"m", "--out", "x", "fleetbench", "--out", "y"}, "--out"), "y");
  EXPECT_EQ(argument({"m", "fleetbench", "--out=y"}, "--out"), "y");
  EXPECT_EQ(argument({"m", "--out", "x", "fleetbench"}, "--out"), std::nullopt);
}

TEST(WithHosts, PlacesAreFilled) {
  EXPECT_THAT(with_hosts({"mpirun", "-np", "{count}", "--host", "{hosts}", "fleetbench"},
                         {"a", "b", "c"}, {"a", "c"}, no_file),
              ElementsAre("mpirun", "-np", "2", "--host", "a,c", "fleetbench"));
}

TEST(WithHosts, HostsAreTakenOutOfMpirunsOptions) {
  EXPECT_THAT(with_hosts({"mpirun", "-np", "6", "-H", "a:2,b:2,c:2", "fleetbench", "-n", "6"},
                         {"a", "b", "c"}, {"a", "c"}, no_file),
              ElementsAre("mpirun", "-np", "4", "--host", "a,c", "fleetbench", "-n", "6"));
  EXPECT_THAT(
      with_hosts({"mpirun", "--hostfile", "hosts", "fleetbench"}, {"n1", "n2"}, {"n2"}, host_file),
      ElementsAre("mpirun", "--host", "n2", "fleetbench"));
}

TEST(WithHosts, AllOfThemIsTheCommandItself) {
  const Words command{"srun", "fleetbench"};
  EXPECT_EQ(with_hosts(command, {"a", "b"}, {"a", "b"}, no_file), command);
}

TEST(WithHosts, ACommandThatNamesNoHostsSaysHowToMendIt) {
  try {
    with_hosts({"srun", "fleetbench"}, {"a", "b"}, {"a"}, no_file);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("{hosts}"));
  }
}

}  // namespace
}  // namespace fleetbench::gate
