#include "harness/fleet/order.hpp"

#include <utility>

namespace fleetbench::fleet {

Json message_of(const char* what, const Order& order) {
  Json gpus = Json::array();
  for (const GpuSeat& gpu : order.gpus) {
    gpus.push_back({{"label", gpu.label}, {"uuid", gpu.uuid}});
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
    order.gpus.push_back({gpu.at("label").get<std::string>(), gpu.at("uuid").get<std::string>()});
  }
  return order;
}

}  // namespace fleetbench::fleet
