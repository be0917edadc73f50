#include "tests/gpu_sim/nccl/announcement.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

#include "tests/gpu_sim/nccl/log.hpp"
#include "tests/gpu_sim/nccl/nccl_settings.hpp"

namespace gpu_sim::nccl {

namespace {

constexpr int kChannels = 16;
// Below, one channel does and the protocol is the one for short messages.
constexpr std::size_t kShortBytes = 64 << 10;

template <typename... Values>
std::string printed(const char* format, Values... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string identity(ncclComm_t handle, const Communicator& communicator) {
  const Member& member = communicator.member();
  return printed("comm %p rank %d nranks %d cudaDev %d nvmlDev %d busId %x commId 0x%llx",
                 static_cast<void*>(handle), communicator.rank(), communicator.ranks(), member.cuda,
                 member.gpu, member.bus,
                 static_cast<unsigned long long>(communicator.invitation().hash));
}

bool is_shared_memory(const Member& from, const Member& to) { return from.no_peers || to.no_peers; }

// How this rank reaches the next one, and over the network how it is reached.
void announce_channel(const Communicator& communicator, int channel) {
  const int ranks = communicator.ranks();
  const int rank = communicator.rank();
  const int next = (rank + 1) % ranks;
  const auto& members = communicator.members();
  const Member& self = communicator.member();
  const Member& other = members[static_cast<std::size_t>(next)];
  const std::string network = "via NET/" + nccl_settings().network + "/";
  const auto line = [&](Subsystem subsystem, int from, int to, const std::string& suffix) {
    inform(Subsystem::init | subsystem, self.cuda,
           printed("Channel %02d/0 : %d[%d] -> %d[%d] %s", channel, from,
                   members[static_cast<std::size_t>(from)].cuda, to,
                   members[static_cast<std::size_t>(to)].cuda, suffix.c_str()));
  };
  if (other.node != self.node) {
    line(Subsystem::net, rank, next, "[send] " + network + std::to_string(self.gpu));
  } else if (is_shared_memory(self, other)) {
    line(Subsystem::shm, rank, next, "via SHM/direct/direct");
  } else {
    line(Subsystem::p2p, rank, next, "via P2P/CUMEM");
  }
  const int before = (rank + ranks - 1) % ranks;
  if (members[static_cast<std::size_t>(before)].node != self.node) {
    line(Subsystem::net, before, rank, "[receive] " + network + std::to_string(self.gpu));
  }
}

}  // namespace

void announce_start(ncclComm_t handle, const Communicator& communicator) {
  static std::atomic<bool> first = true;
  const int cuda = communicator.member().cuda;
  if (first.exchange(false)) {
    const int runtime = CUDART_VERSION;
    inform(Subsystem::init, cuda,
           printed("NCCL version %s+cuda%d.%d", nccl_settings().version.c_str(), runtime / 1000,
                   runtime % 1000 / 10));
    inform(Subsystem::init | Subsystem::net, cuda, "Using network " + nccl_settings().network);
  }
  inform(Subsystem::init, cuda,
         "ncclCommInitRankConfig " + identity(handle, communicator) + " - Init START");
}

void announce_complete(ncclComm_t handle, const Communicator& communicator) {
  for (int channel = 0; channel < kChannels && communicator.ranks() > 1; ++channel) {
    announce_channel(communicator, channel);
  }
  inform(Subsystem::init, communicator.member().cuda,
         "ncclCommInitRankConfig " + identity(handle, communicator) + " - Init COMPLETE");
}

void announce_tuning(const Communicator& communicator, const Call& call) {
  if (communicator.rank() != 0 || !call.is_collective() || !informs(Subsystem::tuning)) {
    return;
  }
  const bool is_short = call.bytes() < kShortBytes;
  inform(Subsystem::tuning, communicator.member().cuda,
         printed("%s: %zu Bytes -> Algo RING proto %s channel{Lo..Hi}={0..%d}",
                 names_of(call.function).nccl, call.bytes(), is_short ? "LL" : "SIMPLE",
                 is_short ? 0 : kChannels - 1));
}

}  // namespace gpu_sim::nccl
