#include "probes/support/driver_counters.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "probes/support/file_descriptor.hpp"

namespace fleetbench {
namespace {

// More than any driver has: 128 queues of mlx5 make some 5,000.
constexpr std::size_t kMostCounters = 1 << 16;
// The kernel writes as many values as the driver has at that moment, whatever was asked for. A
// driver whose queues are set up anew meanwhile has a few more.
constexpr std::size_t kSpareValues = 4096;

// Room for a command's head and `bytes` behind it, aligned for 64-bit values.
std::vector<std::uint64_t> room_for(std::size_t head, std::size_t bytes) {
  return std::vector<std::uint64_t>((head + bytes) / sizeof(std::uint64_t) + 1);
}

// One request after another about one interface.
class Ethtool {
 public:
  explicit Ethtool(const std::string& interface)
      : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    std::strncpy(request_.ifr_name, interface.c_str(), IFNAMSIZ - 1);
  }

  bool ask(void* command) {
    request_.ifr_data = static_cast<char*>(command);
    return socket_ && ioctl(socket_.get(), SIOCETHTOOL, &request_) == 0;
  }

  std::size_t count() {
    auto room = room_for(sizeof(ethtool_sset_info), sizeof(std::uint32_t));
    auto* asked = reinterpret_cast<ethtool_sset_info*>(room.data());
    asked->cmd = ETHTOOL_GSSET_INFO;
    asked->sset_mask = 1ULL << ETH_SS_STATS;
    return ask(asked) && asked->sset_mask != 0 ? asked->data[0] : 0;
  }

 private:
  FileDescriptor socket_;
  ifreq request_{};
};

bool contains_any(std::string_view name, const auto& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

constexpr std::array<std::string_view, 7> kOfNoUse = {
    "duration", "transition", "xon", "storm", "global_pause", "steer_missed", "xdp"};
constexpr std::array<std::string_view, 3> kPauses = {"pause", "xoff", "pfc"};
constexpr std::array<std::string_view, 7> kDrops = {
    "discard",           "drop", "out_of_buffer", "missed", "no_buffer", "no_dma_resource",
    "allowance_exceeded"};
constexpr std::array<std::string_view, 8> kErrors = {"crc_err",   "symbol_err",    "fcs_err",
                                                     "align_err", "uncorrectable", "undersize",
                                                     "jabber",    "illegal_bytes"};

// "rx0_packets", "tx-3.bytes", "rx_queue_0_drops", "ch12_poll", "[0]: rx_discards".
bool is_of_one_queue(std::string_view name) {
  for (const std::string_view prefix :
       {"rx_queue_", "tx_queue_", "rx-", "tx-", "rx", "tx", "ch", "queue_", "q", "["}) {
    if (name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] >= '0' &&
        name[prefix.size()] <= '9') {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<DriverCounter> read_driver_counters(const std::string& interface) {
  Ethtool ethtool(interface);
  const std::size_t count = interface.size() < IFNAMSIZ ? ethtool.count() : 0;
  if (count == 0 || count > kMostCounters) {
    return {};
  }
  auto names = room_for(sizeof(ethtool_gstrings), (count + kSpareValues) * ETH_GSTRING_LEN);
  auto* strings = reinterpret_cast<ethtool_gstrings*>(names.data());
  strings->cmd = ETHTOOL_GSTRINGS;
  strings->string_set = ETH_SS_STATS;
  strings->len = static_cast<std::uint32_t>(count);
  auto values = room_for(sizeof(ethtool_stats), (count + kSpareValues) * sizeof(std::uint64_t));
  auto* stats = reinterpret_cast<ethtool_stats*>(values.data());
  stats->cmd = ETHTOOL_GSTATS;
  stats->n_stats = static_cast<std::uint32_t>(count);
  if (!ethtool.ask(strings) || !ethtool.ask(stats) || strings->len != stats->n_stats) {
    return {};
  }
  std::vector<DriverCounter> counters;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, stats->n_stats); ++i) {
    const auto* name = reinterpret_cast<const char*>(strings->data) + i * ETH_GSTRING_LEN;
    counters.push_back({std::string(name, strnlen(name, ETH_GSTRING_LEN)), stats->data[i]});
  }
  return counters;
}

std::optional<std::string_view> kind_of_driver_counter(std::string_view name) {
  if (name == "rx_packets_phy" || name == "tx_packets_phy") {
    return name[0] == 'r' ? "packets_received" : "packets_sent";
  }
  if (is_of_one_queue(name) || contains_any(name, kOfNoUse)) {
    return std::nullopt;
  }
  if (contains_any(name, kPauses)) {
    const bool sent = name.starts_with("tx") || name.find("_tx") != std::string_view::npos;
    return sent ? "pause_sent" : "pause_received";
  }
  if (contains_any(name, kErrors)) {
    return "nic_port_errors";
  }
  return contains_any(name, kDrops) ? std::optional<std::string_view>("nic_port_drops")
                                    : std::nullopt;
}

}  // namespace fleetbench
