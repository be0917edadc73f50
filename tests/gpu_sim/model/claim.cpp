#include "tests/gpu_sim/model/claim.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace gpu_sim {

// A socket's name in the abstract space: only one may have it, and it goes with its owner, whatever
// ends that.
int claimed(const std::string& name) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    return -1;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = "fleetbench-gpu-sim/" + name;
  const std::size_t length = std::min(text.size(), sizeof address.sun_path - 1);
  std::copy_n(text.begin(), length, address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

}  // namespace gpu_sim
