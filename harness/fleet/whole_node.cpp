#include "harness/fleet/whole_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace fleetbench::fleet {
namespace {

constexpr const char* kDevices = "devices";

Outcome outcome_of(const Json& device, const Json& common, double seconds) {
  Outcome one{.status = parse_status(device.value("status", "failed")),
              .reason = device.value("reason", "")};
  one.seconds = seconds;
  one.measurement.values = values_from_json(device.value("values", Json::array()));
  one.measurement.detail = device.value("detail", Json::object());
  one.measurement.detail.update(common);
  return one;
}

Json taken_from(Json& detail) {
  if (!detail.is_object() || !detail.contains(kDevices)) {
    return Json();
  }
  Json devices = std::move(detail[kDevices]);
  detail.erase(kDevices);
  return devices;
}

Outcome found_among(const Json& devices, const GpuSeat& gpu, const Outcome& answer) {
  const auto found = std::ranges::find_if(devices, [&](const Json& device) {
    return device.is_object() && device.value("uuid", Json()) == gpu.uuid;
  });
  if (found == devices.end()) {
    return {.status = Status::failed, .reason = "the worker for all GPUs says nothing of it"};
  }
  try {
    return outcome_of(*found, answer.measurement.detail, answer.seconds);
  } catch (const std::exception& error) {
    return {.status = Status::failed,
            .reason = fmt::format("what the worker for all GPUs says of it cannot be read: {}",
                                  error.what())};
  }
}

}  // namespace

Json work_for_all(Json work, const std::vector<GpuSeat>& gpus) {
  work["gpus"] = Json::array();
  for (const GpuSeat& gpu : gpus) {
    work["gpus"].push_back({{"label", gpu.label}, {"uuid", gpu.uuid}});
  }
  return work;
}

Outcome outcome_of_all(Outcome answer, const std::vector<GpuSeat>& gpus) {
  const Json devices = taken_from(answer.measurement.detail);
  Outcome all{.status = answer.status, .reason = answer.reason};
  all.seconds = answer.seconds;
  for (const GpuSeat& gpu : gpus) {
    Outcome& one =
        all.devices.emplace_back(devices.is_array() ? found_among(devices, gpu, answer) : answer);
    one.device = gpu.label;
  }
  if (std::ranges::none_of(all.devices,
                           [](const Outcome& one) { return one.status == Status::ok; })) {
    all.status = all.devices.front().status;
    all.reason = all.devices.front().reason;
  }
  return all;
}

}  // namespace fleetbench::fleet
