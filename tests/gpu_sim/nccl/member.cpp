#include "tests/gpu_sim/nccl/member.hpp"

#include <algorithm>

#include "tests/gpu_sim/model/chip.hpp"
#include "tests/gpu_sim/nccl/nccl_settings.hpp"

namespace gpu_sim::nccl {

void Member::write(Writer& writer) const {
  writer.text(node);
  writer.text(leaf);
  writer.number(gpu);
  writer.number(cuda);
  writer.number(bus);
  writer.number(version);
  for (const double value : {nvlink, nic_send, nic_receive, leaf_factor, latency}) {
    writer.number(value);
  }
  writer.number(joined);
  writer.number(no_peers);
  writer.number(seed);
  writer.number(links.size());
  for (const auto& [to, factor] : links) {
    writer.text(to);
    writer.number(factor);
  }
}

Member Member::read(Reader& reader) {
  Member member;
  member.node = reader.text();
  member.leaf = reader.text();
  member.gpu = reader.number<int>();
  member.cuda = reader.number<int>();
  member.bus = reader.number<std::uint32_t>();
  member.version = reader.number<int>();
  for (double* value : {&member.nvlink, &member.nic_send, &member.nic_receive, &member.leaf_factor,
                        &member.latency}) {
    *value = reader.number<double>();
  }
  member.joined = reader.number<NvLink>();
  member.no_peers = reader.number<bool>();
  member.seed = reader.number<std::uint64_t>();
  const auto links = reader.number<std::size_t>();
  for (std::size_t i = 0; i < links; ++i) {
    const std::string to = reader.text();
    member.links[to] = reader.number<double>();
  }
  return member;
}

Member member_of(const Model& model, const Device& device) {
  const NcclSettings& settings = nccl_settings();
  const Faults& faults = device.faults();
  Member member;
  member.node = model.settings.node;
  member.gpu = device.index();
  const auto visible = std::find(model.visible.begin(), model.visible.end(), &device);
  member.cuda = static_cast<int>(visible - model.visible.begin());
  member.bus = device.pci().domain << 20U | device.pci().bus << 12U;
  member.version = settings.version_code();
  member.nvlink = faults.nvlink * (chip::kNvlinks - faults.nvlinks_down) / chip::kNvlinks;
  member.nic_send = faults.nic_send;
  member.nic_receive = faults.nic_receive;
  member.links = faults.link;
  member.leaf = settings.leaf_of(member.node);
  member.leaf_factor = settings.factor_of(member.leaf);
  member.joined = model.settings.nvlink;
  member.no_peers = faults.no_peers;
  member.seed = model.settings.seed;
  member.latency = model.settings.latency;
  return member;
}

}  // namespace gpu_sim::nccl
