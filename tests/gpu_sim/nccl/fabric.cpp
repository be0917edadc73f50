#include "tests/gpu_sim/nccl/fabric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/gpu_sim/model/chip.hpp"
#include "tests/gpu_sim/model/noise.hpp"

namespace gpu_sim::nccl {

namespace {

constexpr double kNvlinkBytesPerS = 360e9;
constexpr double kSharedMemoryBytesPerS = 20e9;
constexpr double kNicBytesPerS = 48e9;
// Between rails traffic goes through a spine.
constexpr double kCrossRail = 0.95;

constexpr double kLaunchNs = 6000;
constexpr double kNvlinkStepNs = 1000;
constexpr double kNetworkStepNs = 5000;
constexpr double kSpineNs = 1500;

constexpr double kBetweenLinks = 0.005;

double factor_to(const Member& from, const Member& to) {
  const auto link = from.links.find(to.node);
  return link == from.links.end() ? 1 : link->second;
}

double network_bytes_per_s(const Member& from, const Member& to) {
  return kNicBytesPerS * std::min(from.nic_send, to.nic_receive) * factor_to(from, to) *
         std::min(from.leaf_factor, to.leaf_factor) * (from.gpu == to.gpu ? 1 : kCrossRail);
}

double node_bytes_per_s(const Member& from, const Member& to) {
  if (from.no_peers || to.no_peers) {
    return kSharedMemoryBytesPerS;
  }
  const bool neighbours = from.gpu / 2 == to.gpu / 2;
  const bool joined =
      from.joined == NvLink::switches || (from.joined == NvLink::bridges && neighbours);
  return joined ? kNvlinkBytesPerS * std::min(from.nvlink, to.nvlink) : chip::kPciePeerBytesPerS;
}

// How much each link of a ring carries, of a buffer of `bytes` as the function counts it.
double bytes_on_ring(const Call& call, double ranks) {
  const auto bytes = static_cast<double>(call.bytes());
  switch (call.function) {
    case Function::all_reduce:
      return bytes * 2 * (ranks - 1) / ranks;
    case Function::all_gather:
    case Function::reduce_scatter:
      return bytes * (ranks - 1);
    default:
      return bytes;
  }
}

}  // namespace

Fabric::Fabric(std::vector<Member> members, std::uint64_t serial)
    : members_(std::move(members)), serial_(serial), bus_bytes_per_s_(slowest_of_ring()) {}

Medium Fabric::medium(int from, int to) const {
  if (from == to) {
    return Medium::self;
  }
  return at(from).node == at(to).node ? Medium::nvlink : Medium::network;
}

double Fabric::path_bytes_per_s(int from, int to) const {
  const Medium medium = this->medium(from, to);
  if (medium == Medium::self) {
    // Read and written.
    return chip::kMemoryBytesPerS / 2;
  }
  const Member& source = at(from);
  const Member& target = at(to);
  const double link = bell(hashed(source.name() + ">" + target.name(), source.seed));
  return (medium == Medium::network ? network_bytes_per_s(source, target)
                                    : node_bytes_per_s(source, target)) *
         (1 + kBetweenLinks * link);
}

double Fabric::transfer_latency_ns(int from, int to) const {
  double ns = kLaunchNs;
  if (medium(from, to) == Medium::network) {
    ns += kNetworkStepNs + (at(from).gpu == at(to).gpu ? 0 : kSpineNs);
  } else {
    ns += kNvlinkStepNs;
  }
  return ns * at(from).latency;
}

double Fabric::varied(const std::string& what, std::uint64_t number, double ns) const {
  const std::uint64_t seed = at(0).seed + 1000 * serial_;
  return ns * (1 + chip::kBetweenRepetitions * bell(hashed(what, hashed("nccl", seed) + number)));
}

double Fabric::varied_transfer(int from, int to, std::uint64_t number, double ns) const {
  return varied(at(from).name() + ">" + at(to).name(), number, ns);
}

std::vector<std::vector<int>> Fabric::nodes() const {
  std::vector<std::vector<int>> nodes;
  for (int rank = 0; rank < ranks(); ++rank) {
    const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const std::vector<int>& ranks) {
      return at(ranks.front()).node == at(rank).node;
    });
    if (node == nodes.end()) {
      nodes.push_back({rank});
    } else {
      node->push_back(rank);
    }
  }
  return nodes;
}

double Fabric::slowest_of_ring() const {
  const auto all = nodes();
  double slowest = std::numeric_limits<double>::infinity();
  std::size_t channels = all.front().size();
  for (const auto& node : all) {
    channels = std::min(channels, node.size());
    for (std::size_t i = 0; i < node.size() && node.size() > 1; ++i) {
      slowest = std::min(slowest, path_bytes_per_s(node[i], node[(i + 1) % node.size()]));
    }
  }
  for (std::size_t i = 0; i < all.size() && all.size() > 1; ++i) {
    const auto& next = all[(i + 1) % all.size()];
    for (std::size_t channel = 0; channel < channels; ++channel) {
      slowest = std::min(slowest, static_cast<double>(channels) *
                                      path_bytes_per_s(all[i][channel], next[channel]));
    }
  }
  return ranks() == 1 ? path_bytes_per_s(0, 0) : slowest;
}

double Fabric::collective_latency_ns(Function function) const {
  const auto all = nodes();
  std::size_t most = 0;
  for (const auto& node : all) {
    most = std::max(most, node.size());
  }
  const double rounds = function == Function::all_reduce ? 2 : 1;
  const double steps = kNvlinkStepNs * static_cast<double>(most - 1) +
                       kNetworkStepNs * std::ceil(std::log2(static_cast<double>(all.size())));
  return at(0).latency * (kLaunchNs + rounds * steps);
}

double Fabric::collective_ns(const Call& call, std::uint64_t number) const {
  // One rank alone copies its buffer.
  const double bytes = ranks() == 1 ? static_cast<double>(call.bytes())
                                    : bytes_on_ring(call, static_cast<double>(ranks()));
  return varied(names_of(call.function).fault, number,
                collective_latency_ns(call.function) + bytes / bus_bytes_per_s_ * 1e9);
}

}  // namespace gpu_sim::nccl
