#include "harness/fleet/order.hpp"

#include <utility>

namespace fleetbench::fleet {

namespace {

// Rails are on the same nodes, mostly: thousands of names are said once.
Json message_of(const std::vector<TeamOrder>& teams) {
  Json all = Json::array();
  for (std::size_t i = 0; i < teams.size(); ++i) {
    all.push_back({{"devices", teams[i].devices}});
    if (i == 0 || teams[i].nodes != teams[i - 1].nodes) {
      all.back()["nodes"] = teams[i].nodes;
    }
  }
  return all;
}

std::vector<TeamOrder> teams_from(const Json& message) {
  std::vector<TeamOrder> teams;
  for (const Json& one : message) {
    auto nodes = one.contains("nodes") ? one["nodes"].get<std::vector<std::string>>()
                                       : teams.at(teams.size() - 1).nodes;
    teams.push_back(
        {std::move(nodes), one.at("devices").get<std::vector<std::vector<std::string>>>()});
  }
  return teams;
}

}  // namespace

Json place_of(const TeamOrder& team, int index) {
  Json ranks = Json::array();
  for (std::size_t i = 0; i < team.nodes.size(); ++i) {
    for (const std::string& device : team.devices[team.devices.size() == 1 ? 0 : i]) {
      ranks.push_back({{"node", team.nodes[i]}, {"device", device}});
    }
  }
  return {{"index", index}, {"ranks", std::move(ranks)}};
}

Json message_of(const char* what, const Order& order) {
  Json gpus = Json::array();
  for (const GpuSeat& gpu : order.gpus) {
    gpus.push_back(
        {{"label", gpu.label}, {"uuid", gpu.uuid}, {"team", gpu.team}, {"index", gpu.index}});
  }
  return {{"do", what},
          {"slot", order.slot},
          {"turn", order.turn},
          {"runner", to_string(order.runner)},
          {"probe", order.probe},
          {"params", order.params},
          {"work", order.work},
          {"members", order.members},
          {"gpus", std::move(gpus)},
          {"in_one_process", order.in_one_process},
          {"teams", message_of(order.teams)},
          {"limit_s", order.limit_s}};
}

Order order_from(const Json& message) {
  Order order{.slot = message.at("slot").get<int>(),
              .turn = message.at("turn").get<int>(),
              .runner = plan::parse_runner(message.at("runner").get<std::string>()),
              .probe = message.at("probe").get<std::string>(),
              .params = message.at("params"),
              .work = message.at("work"),
              .members = message.at("members").get<std::vector<int>>(),
              .gpus = {},
              .in_one_process = message.at("in_one_process").get<bool>(),
              .limit_s = message.at("limit_s").get<double>()};
  for (const Json& gpu : message.at("gpus")) {
    order.gpus.push_back({gpu.at("label").get<std::string>(), gpu.at("uuid").get<std::string>(),
                          gpu.at("team").get<int>(), gpu.at("index").get<int>()});
  }
  order.teams = teams_from(message.at("teams"));
  return order;
}

}  // namespace fleetbench::fleet
