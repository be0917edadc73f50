#include "harness/fleet/slot_samples.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fleetbench::fleet {
namespace {

const Json& devices_in(const Json& answer) {
  static const Json none = Json::array();
  const auto found = answer.find("devices");
  return found == answer.end() ? none : *found;
}

}  // namespace

void SlotSamples::add(const SlotState& state, const Owner& owner, const Json& answer) {
  if (owner.gpus.empty()) {
    add_one(state, owner, answer);
    return;
  }
  for (const Json& device : devices_in(answer)) {
    add_one(state, owner, device);
  }
}

SampleRecord SlotSamples::add_sample(const SlotState& state, const Owner& owner,
                                     const Json& answer) {
  const auto& step = steps_[static_cast<std::size_t>(state.slot.step)];
  auto sample = sample_from(answer, state, owner, step, nodes_);
  values_.push_back(sample.values);
  sink_.add(sample);
  return sample;
}

void SlotSamples::add_one(const SlotState& state, const Owner& owner, const Json& answer) {
  const auto sample = add_sample(state, owner, answer);
  if (sample.status == Status::timeout) {
    count_timeout(state, owner, sample.device);
  }
}

void SlotSamples::add_of_team(const SlotState& state, const Owner& owner, const Json& device,
                              bool is_to_blame) {
  const auto sample = add_sample(state, owner, device);
  if (sample.status != Status::timeout) {
    return;
  }
  if (is_to_blame) {
    count_own_timeout(state, owner, sample.device);
  } else {
    count_timeout(state, owner, plan::rail_of(state.teams[owner.teams.at(sample.device)]));
  }
}

void SlotSamples::count_own_timeout(const SlotState& state, const Owner& owner,
                                    const std::string& device) {
  if (timeouts_.add(state.slot.step, state.slot.index, {owner.node}, device)) {
    attendance_.omit(steps_[static_cast<std::size_t>(state.slot.step)].id, owner.node,
                     fmt::format("{} left out after {} time-outs", device, kTimeoutsAllowed));
  }
}

void SlotSamples::add_failed_devices(const SlotState& state, Owner& owner, const Json& answer) {
  for (const Json& device : devices_in(answer)) {
    if (device.value("status", "failed") != to_string(Status::ok)) {
      add_one(state, owner, device);
      std::erase_if(owner.gpus, [&](const plan::OwnedGpu& gpu) {
        return gpu.label == device.value("device", "");
      });
    }
  }
}

void SlotSamples::add_timeout(const SlotState& state, const Owner& owner, const std::string& reason,
                              const std::vector<std::string>& devices) {
  Json answer{{"status", to_string(Status::timeout)}, {"reason", reason}};
  if (owner.gpus.empty()) {
    add_one(state, owner, answer);
    return;
  }
  for (const auto& gpu : owner.gpus) {
    if (devices.empty() || std::ranges::find(devices, gpu.label) != devices.end()) {
      answer["device"] = gpu.label;
      add_one(state, owner, answer);
    }
  }
}

void SlotSamples::count_timeout(const SlotState& state, const Owner& owner,
                                const std::string& device) {
  const auto& party = state.party_of(owner);
  if (!timeouts_.add(state.slot.step, state.slot.index, party, device)) {
    return;
  }
  const auto& step = steps_[static_cast<std::size_t>(state.slot.step)];
  auto reason = fmt::format("{}left out after {} time-outs", device.empty() ? "" : device + " ",
                            kTimeoutsAllowed);
  std::optional<int> node = owner.node;
  if (owner.peer) {
    reason = fmt::format("{} with {}: {}", attendance_.name(owner.node),
                         attendance_.name(*owner.peer), reason);
  }
  const auto group = group_of(state, owner, step, nodes_);
  if (!group.empty()) {
    reason =
        fmt::format("the group of {}: {}", fmt::join(attendance_.names_of(group), ", "), reason);
  }
  if (party.size() > 1) {
    node.reset();  // which of them is at fault is not known
  }
  attendance_.omit(step.id, node, reason);
}

}  // namespace fleetbench::fleet
