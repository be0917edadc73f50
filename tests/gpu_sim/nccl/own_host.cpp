// Which of this machine's addresses others are told.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "tests/gpu_sim/model/setting_text.hpp"
#include "tests/gpu_sim/nccl/nccl_error.hpp"
#include "tests/gpu_sim/nccl/socket.hpp"

namespace gpu_sim::nccl {

namespace {

// As NCCL reads it: beginnings of names, or after = whole names, and after ^ all but these.
bool admits(std::string_view wanted, std::string_view name) {
  const bool all_but = wanted.starts_with('^');
  wanted.remove_prefix(all_but ? 1 : 0);
  const bool whole = wanted.starts_with('=');
  wanted.remove_prefix(whole ? 1 : 0);
  const auto parts = parts_of(wanted, ',');
  const bool named = std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return whole ? name == part : name.starts_with(part);
  });
  return named != all_but;
}

template <typename Fits>
std::optional<std::uint32_t> first_host(const ifaddrs* all, Fits fits) {
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET &&
        (one->ifa_flags & IFF_UP) != 0 && fits(*one)) {
      return reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr;
    }
  }
  return std::nullopt;
}

}  // namespace

std::uint32_t own_host() {
  ifaddrs* list = nullptr;
  require(getifaddrs(&list) == 0, ncclSystemError, "Call to getifaddrs failed");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(list, freeifaddrs);
  const char* wanted = std::getenv("NCCL_SOCKET_IFNAME");
  if (wanted != nullptr && *wanted != 0) {
    const auto host =
        first_host(list, [&](const ifaddrs& one) { return admits(wanted, one.ifa_name); });
    require(host.has_value(), ncclInvalidUsage,
            std::string("Bootstrap : no socket interface found (NCCL_SOCKET_IFNAME set to ") +
                wanted + ")");
    return *host;
  }
  return first_host(list, [](const ifaddrs& one) { return (one.ifa_flags & IFF_LOOPBACK) == 0; })
      .value_or(htonl(INADDR_LOOPBACK));
}

}  // namespace gpu_sim::nccl
