#include "harness/record/topology_file.hpp"

#include <gmock/gmock.h>

#include "harness/record/node_list.hpp"
#include "harness/record/topology_nodes.hpp"
#include "tests/unit/problem_marks.hpp"

namespace fleetbench::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refusal_of(const std::string& list) {
  try {
    expand_node_list(list);
  } catch (const NodeListError& error) {
    return error.what();
  }
  return "";
}

TEST(NodeList, WhatIsNoneIsNamedWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"n[1-", "opened and never closed"}, {"n[1[2]]", "opened and never closed"},
      {"n1]", "closed and never opened"},  {"n[]", "\"\" is no number"},
      {"n[1,]", "\"\" is no number"},      {"n[5-2]", "5-2 is no range"},
      {"n[a-b]", "\"a\" is no number"},    {"n 1", "a blank within a name"},
      {"n[-3]", "\"\" is no number"},      {"n[1-99999999999]", "more than 200000 nodes"},
      {"a[1-1000]b[1-1000]", "more than"}, {"n[1-99999999999999999999999]", "is no number"},
  };
  for (const auto& [list, message] : table) {
    EXPECT_THAT(refusal_of(list), HasSubstr(message)) << list;
  }
  EXPECT_THAT(expand_node_list(" , a,, b ,"), ElementsAre("a", "b"));
  EXPECT_THAT(expand_node_list(""), IsEmpty());
  // As large as numbers get.
  EXPECT_THAT(expand_node_list("n[18446744073709551614-18446744073709551615]"),
              ElementsAre("n18446744073709551614", "n18446744073709551615"));
}

std::vector<std::string> problems_of(const std::string& text) {
  return marks(read_topology({"t.conf", text}).errors);
}

TEST(TopologyFile, TroubleIsNamedWithItsLine) {
  EXPECT_THAT(problems_of(""), ElementsAre("empty@0"));
  EXPECT_THAT(problems_of("# nothing\n"), ElementsAre("empty@0"));
  EXPECT_THAT(problems_of("SwitchName=a Nodes=\xFF\n"), ElementsAre("encoding@0"));
  EXPECT_THAT(problems_of("BlockName=b1 Nodes=n1\n"),
              ElementsAre("unknown_key@1", "no_switch_name@1"));
  EXPECT_THAT(problems_of("SwitchName=a Nodes=n[1-300000]\n"), ElementsAre("too_many@1"));
  EXPECT_THAT(problems_of("SwitchName=a Switches=a\n"), ElementsAre("cycle@1"));
  EXPECT_THAT(problems_of("SwitchName=a Switches=b\nSwitchName=b Switches=c\n"
                          "SwitchName=c Switches=d\nSwitchName=d Switches=b,x\n"
                          "SwitchName=x Nodes=n1\n"),
              ElementsAre("cycle@2"));
  // What hangs on a line with an error hangs on something.
  EXPECT_THAT(problems_of("SwitchName=a Node=n1\nSwitchName=b Switches=a\n"),
              ElementsAre("unknown_key@1"));
  EXPECT_THAT(problems_of("SwitchName=a Nodes=n1,n1\n"), IsEmpty());
}

TEST(TopologyFile, ALineThatGoesOnBeginsWhereItBegins) {
  const std::string text = "SwitchName=a \\\n  Nodes=n1,\\\n# a comment\nSwitchName=a Nodes=n2";
  EXPECT_THAT(problems_of(text), ElementsAre("duplicate_switch@4"));
  EXPECT_THAT(problems_of("\xEF\xBB\xBFSwitchName=a Nodes=n1\r\nSwitchName=b Nodes=n2\\"),
              IsEmpty());
}

Topology topology_of(const std::string& text) { return read_topology({"t", text}).topology; }

const std::string kTree =
    "SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\nSwitchName=leaf3 Nodes=n5\n"
    "SwitchName=mid Switches=leaf3\nSwitchName=top Switches=leaf[1-2],mid\n";

TEST(TopologyNodes, OnlyWhatIsAboveNodesOfTheRunIsKept) {
  const auto matched = match_topology(topology_of(kTree), {"n4", "n1", "n9"});
  EXPECT_THAT(matched.topology.switches,
              ElementsAre(Switch{"leaf1", {"n1"}, {}}, Switch{"leaf2", {"n4"}, {}},
                          Switch{"top", {}, {"leaf1", "leaf2"}}));
  EXPECT_THAT(matched.missing, ElementsAre("n9"));
  EXPECT_EQ(matched.others, 3U);
  EXPECT_TRUE(match_topology(topology_of(kTree), {"x"}).topology.empty());
}

TEST(TopologyNodes, DomainsNeedNotBeWrittenWhereNamesAreClearWithoutThem) {
  const auto leaf = [](const std::string& nodes, const std::vector<std::string>& run) {
    const auto matched = match_topology(topology_of("SwitchName=a Nodes=" + nodes), run);
    return matched.topology.empty() ? std::vector<std::string>()
                                    : matched.topology.switches.at(0).nodes;
  };
  EXPECT_THAT(leaf("n[1-2]", {"n1.lab", "n2.lab"}), ElementsAre("n1.lab", "n2.lab"));
  EXPECT_THAT(leaf("n1.lab", {"n1"}), ElementsAre("n1"));
  EXPECT_THAT(leaf("n1", {"n1", "n1.lab"}), ElementsAre("n1"));
  EXPECT_THAT(leaf("n1", {"n1.east", "n1.west"}), IsEmpty());
  EXPECT_THAT(leaf("n1.east,n1.west", {"n1"}), IsEmpty());
}

}  // namespace
}  // namespace fleetbench::record
