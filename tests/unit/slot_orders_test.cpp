#include "harness/fleet/slot_orders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/team_course_fixture.hpp"

namespace fleetbench::fleet {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class SlotOrdersTest : public TeamCourseTest {
 protected:
  Json message_for(int rank) {
    return message_of("prepare", orders_.order_for(state_, state_.owners.at(rank), 0));
  }

  SlotOrders orders_{nodes_, step_, attendance_};
};

TEST_F(SlotOrdersTest, EachGpuIsToldItsTeamAndItsPlaceInIt) {
  begin(Participants::group, Across::rails, {{2, 0, 1}});
  const Order order = order_from(message_for(0));
  ASSERT_THAT(order.gpus, SizeIs(2));
  for (const GpuSeat& seat : order.gpus) {
    const TeamOrder& team = order.teams.at(static_cast<std::size_t>(seat.team));
    EXPECT_EQ(seat.index, 1);
    EXPECT_THAT(team.nodes, ElementsAre("n2", "n0", "n1"));
    EXPECT_THAT(team.devices, ElementsAre(ElementsAre(seat.label)));
  }
}

TEST_F(SlotOrdersTest, OfOneTeamEachGpuHasAPlaceOfItsOwn) {
  begin(Participants::group, Across::nodes, {{2, 0, 1}});
  const Order order = order_from(message_for(1));
  EXPECT_THAT(order.teams, SizeIs(1));
  EXPECT_EQ(order.gpus.at(0).index, 4);
  EXPECT_EQ(order.gpus.at(1).index, 5);
}

TEST_F(SlotOrdersTest, TheNodesOfAllRailsAreSaidOnce) {
  begin(Participants::group, Across::rails, {{0, 1, 2, 3}});
  const Json teams = message_for(3).at("teams");
  ASSERT_THAT(teams, SizeIs(2));
  EXPECT_THAT(teams[0].at("nodes"), SizeIs(4));
  EXPECT_FALSE(teams[1].contains("nodes"));
}

TEST_F(SlotOrdersTest, ARailThatIsNotOnAllNodesSaysOnWhich) {
  gpus_[1].resize(1);
  begin(Participants::group, Across::rails, {{0, 1, 2}});
  const Order order = order_from(message_for(0));
  EXPECT_THAT(order.teams.at(0).nodes, ElementsAre("n0", "n1", "n2"));
  EXPECT_THAT(order.teams.at(1).nodes, ElementsAre("n0", "n2"));
}

}  // namespace
}  // namespace fleetbench::fleet
