// What drivers of network interfaces count beyond what Linux asks of all of them: pause frames,
// packets that the hardware threw away, errors on the wire.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleetbench {

struct DriverCounter {
  std::string name;  // as `ethtool -S` shows it
  std::uint64_t value = 0;
};

// Of one interface. Empty where its driver tells nothing.
using DriverCounterReader = std::function<std::vector<DriverCounter>(const std::string& interface)>;

// As `ethtool -S`, for which nobody has to be root. May hang where the kernel does, as a read in
// HostFiles.
std::vector<DriverCounter> read_driver_counters(const std::string& interface);

// What a counter of this name counts, as drivers of common NICs (mlx5, bnxt, ice, ixgbe, ena, gve,
// virtio) call theirs; none where it is nothing of ours, or of one queue of several. One of
//   pause_received, pause_sent       PAUSE and PFC frames
//   nic_port_errors                  damaged frames and symbols that nothing mended
//   nic_port_drops                   thrown away by the NIC: no buffer, no descriptor, over a limit
//   packets_received, packets_sent   on the wire, RDMA too
std::optional<std::string_view> kind_of_driver_counter(std::string_view name);

}  // namespace fleetbench
