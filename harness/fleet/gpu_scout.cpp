#include "harness/fleet/gpu_scout.hpp"

#include <utility>

namespace fleetbench::fleet {
namespace {

constexpr const char* kInventory = "gpu_inventory";

}  // namespace

GpuScout::GpuScout(worker::Worker worker, double limit_s)
    : worker_(std::move(worker)), limit_s_(limit_s), sent_(std::chrono::steady_clock::now()) {
  worker_.send(prepare_command(kInventory, Json::object(), Json::object()), limit_s);
}

std::optional<Outcome> GpuScout::poll() {
  auto reply = worker_.poll();
  if (!reply) {
    return std::nullopt;
  }
  if (reply->status == Status::ok && !measures_) {
    measures_ = true;
    worker_.send({{"cmd", "measure"}}, limit_s_);
    return std::nullopt;
  }
  return outcome_from(std::move(*reply), sent_);
}

}  // namespace fleetbench::fleet
