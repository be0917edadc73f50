// What is made of pairs and groups before they are judged, at sizes of large fleets, and where
// little is known of some nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/detect/blocks.hpp"
#include "harness/detect/group_tables.hpp"
#include "harness/detect/pair_levels.hpp"
#include "harness/detect/pair_tables.hpp"
#include "harness/detect/ports.hpp"
#include "harness/detect/reduce.hpp"

namespace fleetbench::detect {
namespace {

Names names_of(int nodes) {
  Names names;
  for (int node = 0; node < nodes; ++node) {
    names.nodes.push_back("n" + std::to_string(node));
  }
  return names;
}

Table table_of(SubjectKind subject, Role role) {
  Table table;
  table.step_id = "step";
  table.metric = "step.m";
  table.info.layer = Layer::network;
  table.info.better = Better::lower;
  table.info.subject = subject;
  table.info.symmetric = true;
  table.role = role;
  table.passes = {0};
  return table;
}

void add_row(Table& table, const Row& row, double x) {
  table.add_row(row);
  table.values(table.rows.size() - 1).front() = x;
}

constexpr int kLargeFleet = 24000;

// Pairs within each `size` nodes that follow each other; those of `slow` take longer.
PairTables tables_of_parts(int size, int slow) {
  Table links = table_of(SubjectKind::link, Role::link);
  for (int a = 0; a < kLargeFleet; ++a) {
    for (int b = a + 1; b < (a / size + 1) * size; ++b) {
      add_row(links, {.node = a, .peer = b}, a == slow || b == slow ? 6 : 5);
    }
  }
  const Names names = names_of(kLargeFleet);
  return derive(std::move(links), names, Switches({}, names.nodes), 0.05);
}

// A table of all nodes for each part would take gigabytes.
TEST(PairParts, OfOneMatchingOfALargeFleetAreLinksAlone) {
  const PairTables tables = tables_of_parts(2, 0);
  EXPECT_TRUE(tables.nodes.empty());
  ASSERT_EQ(tables.links.rows.size(), kLargeFleet / 2U);
  EXPECT_DOUBLE_EQ(tables.links.rows.front().reference, 5);
}

TEST(PairParts, OfFourNodesOfALargeFleetAreFittedEach) {
  constexpr int kSlow = kLargeFleet - 2;
  const PairTables tables = tables_of_parts(4, kSlow);
  ASSERT_EQ(tables.nodes.size(), 1U);
  const Table& nodes = tables.nodes.front();
  ASSERT_EQ(nodes.rows.size(), static_cast<std::size_t>(kLargeFleet));
  for (std::size_t row = 0; row < nodes.rows.size(); ++row) {
    EXPECT_NEAR(nodes.values(row)[0], nodes.rows[row].node == kSlow ? 6 : 5, 1e-6);
  }
  for (const Row& row : tables.links.rows) {
    EXPECT_NEAR(row.reference, row.node == kSlow || row.peer == kSlow ? 6 : 5, 1e-6);
  }
}

TEST(PairClasses, NodesOfNoSwitchDoNotCrossAny) {
  constexpr int kUnknown = 8;  // and the one after it
  const auto leaf = [](int node) { return node < kUnknown ? node / 4 : -1; };
  Names names = names_of(10);
  const Topology topology{{{"leaf0", {"n0", "n1", "n2", "n3"}, {}},
                           {"leaf1", {"n4", "n5", "n6", "n7"}, {}},
                           {"spine", {}, {"leaf0", "leaf1"}}}};
  Table links = table_of(SubjectKind::link, Role::link);
  for (int a = 0; a < 10; ++a) {
    for (int b = a + 1; b < 10; ++b) {
      const bool crosses = leaf(a) != leaf(b) && leaf(a) >= 0 && leaf(b) >= 0;
      add_row(links, {.node = a, .peer = b}, crosses ? 5.5 : 5);
    }
  }
  const PairClasses classes = classify(links, names, Switches(topology, names.nodes), 0.05);
  for (std::size_t i = 0; i < links.rows.size(); ++i) {
    const bool crosses = links.values(i)[0] > 5;
    EXPECT_NEAR(classes.offsets[i], crosses ? 0.5 : 0, 1e-9)
        << links.rows[i].node << " " << links.rows[i].peer;
  }
}

TEST(PairLevels, AreMeansHoweverOftenAPairWasMeasured) {
  std::vector<PairValue> pairs;
  for (int i = 0; i < 256; ++i) {
    pairs.push_back({0, 1, 2.0});
  }
  EXPECT_DOUBLE_EQ(PairLevels(2, pairs).at(0, 1), 2.0);
  pairs.push_back({0, 1, 2.0});
  EXPECT_DOUBLE_EQ(PairLevels(2, pairs).at(0, 1), 2.0);
}

// Three nodes that met four of the others, and one that met one of them, have too few partners in
// common with the rest to be compared with it.
TEST(Blocks, AreToldWhereTheyHaveFewPartnersInCommon) {
  constexpr int kNodes = 102;
  constexpr int kLoner = 101;
  const auto is_apart = [](int node) { return node == 0 || node == 2 || node == 4; };
  const auto meets_those = [](int node) {
    return node == 6 || node == 8 || node == 10 || node == 12;
  };
  std::vector<PairValue> pairs{{50, kLoner, 5.0}};
  for (int a = 0; a < kLoner; ++a) {
    for (int b = a + 1; b < kLoner; ++b) {
      if (is_apart(a) != is_apart(b)) {
        if (meets_those(a) || meets_those(b)) {
          pairs.push_back({a, b, 5.5});
        }
      } else if (!(meets_those(a) && meets_those(b))) {
        pairs.push_back({a, b, 5.0 + 0.001 * ((a * 7 + b * 13) % 5)});
      }
    }
  }
  const BlockSearch search = find_blocks(kNodes, pairs, 0.05);
  EXPECT_TRUE(search.looked_for);
  ASSERT_EQ(search.blocks, 2);
  for (int node = 0; node < kLoner; ++node) {
    EXPECT_EQ(search.block[node] == search.block[0], is_apart(node)) << node;
  }
}

// Each of its eight rails, as each of its members saw it.
Table rails_of(const std::vector<int>& groups, int members) {
  Table table = table_of(SubjectKind::group, Role::own);
  for (const int group : groups) {
    for (int row = 0; row < 8 * members; ++row) {
      add_row(table, {.group = group, .ends = row}, 5);
    }
  }
  return table;
}

std::vector<int> without(int nodes, int left_out) {
  std::vector<int> group;
  for (int node = 0; node < nodes; ++node) {
    if (node != left_out) {
      group.push_back(node);
    }
  }
  return group;
}

TEST(GroupTables, OfTheWholeFleetNameNobodyAndCostLittle) {
  constexpr int kNodes = 3000;
  Names names = names_of(kNodes);
  names.groups = {without(kNodes, -1)};
  const GroupTables tables = tables_of_groups(rails_of({0}, kNodes), names);
  EXPECT_TRUE(tables.nodes.empty());
  EXPECT_TRUE(tables.notes.empty());
}

TEST(GroupTables, RowsOfOneGroupTellNoMoreOfItsMembersThanOne) {
  constexpr int kNodes = 1000;
  Names names = names_of(kNodes);
  names.groups = {without(kNodes, 0), without(kNodes, 1)};
  EXPECT_TRUE(tables_of_groups(rails_of({0, 1}, kNodes), names).nodes.empty());
}

TEST(GroupTables, TheWholeFleetIsNoneOfTheGroupsThatTellNodesApart) {
  Names names = names_of(3);
  names.groups = {{0, 1}, {0, 1, 2}, {0, 2}, {1, 2}};
  Table table = table_of(SubjectKind::group, Role::own);
  for (int group = 0; group < 4; ++group) {
    add_row(table, {.group = group}, 5);
  }
  EXPECT_TRUE(tables_of_groups(table, names).nodes.empty());  // two groups each, which is too few
}

TEST(Reduce, RailsOfALargeFleetAreARowEachAndCostLittle) {
  constexpr int kNodes = 16384;
  RunData run;
  StepRecord step;
  step.id = "rails";
  step.metrics = {{.name = "m", .better = Better::higher, .subject = SubjectKind::group}};
  run.steps = {step};
  for (int node = 0; node < kNodes; ++node) {
    run.header.nodes.emplace_back().index = node;
    for (const std::string device : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
      SampleRecord sample;
      sample.node = node;
      sample.device = device;
      sample.ends = {{0, device}, {1, device}};
      sample.values = {1e9};
      run.samples.push_back(std::move(sample));
    }
  }
  const Reduced reduced = reduce(run);
  ASSERT_EQ(reduced.tables.size(), 1U);
  EXPECT_EQ(reduced.tables.front().rows.size(), 4U);
  ASSERT_EQ(reduced.names.groups.size(), 1U);
  EXPECT_EQ(reduced.names.groups.front().size(), static_cast<std::size_t>(kNodes));
}

TEST(Ports, ALargeRailTouchesAllNodesOfItsGroup) {
  Names names = names_of(300);
  names.devices = {"rail0", "rail1"};
  names.groups = {without(300, 7)};
  names.ends = {{{0, 1}, {1, 1}}, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}};
  Table table = table_of(SubjectKind::group, Role::own);
  add_row(table, {.group = 0, .ends = 0}, 5);
  add_row(table, {.group = 0, .ends = 1}, 5);
  const Ports ports(table, names);
  ASSERT_EQ(ports.of(0).size(), 299U);
  EXPECT_EQ(ports.of(0).back(), (Port{299, 1}));
  EXPECT_EQ(ports.of(1).size(), 4U);  // no rail: these are all
  Component last;
  last.nodes.assign(300, false);
  last.nodes[299] = true;
  EXPECT_TRUE(ports.touches(0, last));
  EXPECT_FALSE(ports.touches(1, last));
}

}  // namespace
}  // namespace fleetbench::detect
