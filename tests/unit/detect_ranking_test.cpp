#include <gtest/gtest.h>

#include "harness/detect/ranking.hpp"
#include "harness/detect/table.hpp"

namespace fleetbench::detect {
namespace {

Finding node_finding(const std::string& node, Layer layer, double times,
                     Direction direction = Direction::slow) {
  Finding finding;
  finding.subject.kind = "node";
  finding.subject.node = node;
  finding.layer = layer;
  finding.direction = direction;
  finding.slowdown_pct = 100 * (times - 1);
  finding.ci_low_pct = finding.slowdown_pct - 1;
  return finding;
}

Finding link_finding(const std::string& a, const std::string& b, double times) {
  Finding finding = node_finding("", Layer::network, times);
  finding.subject.kind = "link";
  finding.subject.a = a;
  finding.subject.b = b;
  return finding;
}

TEST(Ranking, CausesFormAGraph) {
  EXPECT_TRUE(is_upstream(Layer::host, Layer::network));
  EXPECT_TRUE(is_upstream(Layer::host, Layer::step)) << "over the network";
  EXPECT_TRUE(is_upstream(Layer::storage, Layer::step)) << "over the input";
  EXPECT_TRUE(is_upstream(Layer::fabric, Layer::network));
  EXPECT_FALSE(is_upstream(Layer::host, Layer::compute));
  EXPECT_FALSE(is_upstream(Layer::network, Layer::host));
  EXPECT_FALSE(is_upstream(Layer::host, Layer::host));
}

TEST(Ranking, ACauseExplainsUpToTwiceItsSizeOnItsOwnNode) {
  struct Case {
    double host;
    double network;
    const char* node;
    bool explained;
  };
  for (const Case& c : {Case{4, 3, "a", true}, Case{4, 15, "a", true}, Case{4, 17, "a", false},
                        Case{1.1, 2, "a", false}, Case{4, 3, "b", false}}) {
    const auto ranked = rank(
        {node_finding("a", Layer::host, c.host), node_finding(c.node, Layer::network, c.network)});
    int explained = 0;
    for (const Finding& finding : ranked) {
      explained += finding.explained_by.has_value();
    }
    EXPECT_EQ(explained == 1, c.explained) << c.network;
  }
}

TEST(Ranking, ALinkIsExplainedByASlowEndUpToItsSize) {
  const auto ranked = rank({link_finding("a", "b", 3), link_finding("a", "c", 10),
                            node_finding("a", Layer::network, 4)});
  EXPECT_EQ(ranked[0].subject.b, "c");
  EXPECT_EQ(ranked[1].subject.node, "a");
  EXPECT_EQ(ranked[2].subject.b, "b");
  EXPECT_EQ(ranked[2].explained_by, 2);
}

TEST(Ranking, OrdersByKindThenByLowerEnd) {
  const auto ranked =
      rank({node_finding("fast", Layer::host, 0.2, Direction::fast),
            node_finding("less", Layer::host, 1.2), node_finding("explained", Layer::network, 1.5),
            node_finding("explained", Layer::host, 1.4), node_finding("more", Layer::host, 9),
            node_finding("gone", Layer::network, 1, Direction::missing),
            node_finding("false", Layer::compute, 1, Direction::wrong)});
  std::vector<std::string> order;
  for (const Finding& finding : ranked) {
    order.push_back(finding.subject.node);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"false", "gone", "more", "explained", "less",
                                             "explained", "fast"}));
  EXPECT_EQ(ranked[5].explained_by, 4);
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    EXPECT_EQ(ranked[i].rank, static_cast<int>(i) + 1);
  }
  EXPECT_TRUE(rank({}).empty());
}

TEST(Ranking, WhatIsMissingExplainsNothing) {
  const auto ranked = rank({node_finding("a", Layer::host, 1, Direction::missing),
                            node_finding("a", Layer::network, 1.5)});
  EXPECT_FALSE(ranked[1].explained_by);
}

}  // namespace
}  // namespace fleetbench::detect
