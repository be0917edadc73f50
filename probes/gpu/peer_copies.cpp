#include "probes/gpu/peer_copies.hpp"

#include <fmt/format.h>

#include "probes/probe.hpp"

namespace fleetbench::gpu {
namespace {

constexpr std::uint32_t kSeed = 0xBEE5;
constexpr const char* kNotPeers =
    "not peers: copies go through the host, and are left out, as nvbandwidth does; see `nvidia-smi "
    "topo -p2p r`";

const Gpu& selected(const Gpu& gpu) {
  gpu.select();
  return gpu;
}

// From the memory of `gpu` into that of `other`, both ways.
std::optional<std::string> why_no_access(const Gpu& gpu, const Gpu& other) {
  int can = 0;
  gpu.check(cudaDeviceCanAccessPeer(&can, gpu.info().index, other.info().index),
            "cudaDeviceCanAccessPeer");
  if (can == 0) {
    return kNotPeers;
  }
  gpu.select();
  const auto code = cudaDeviceEnablePeerAccess(other.info().index, 0);
  cudaGetLastError();
  if (code == cudaSuccess || code == cudaErrorPeerAccessAlreadyEnabled) {
    return std::nullopt;
  }
  return fmt::format("cudaDeviceEnablePeerAccess of {} to {}: {}", gpu.label(), other.label(),
                     cudaGetErrorString(code));
}

}  // namespace

struct PeerCopies::Side {
  Side(const Gpu& gpu, std::size_t size, const CopyPlan& plan, std::uint32_t its_seed)
      : from(selected(gpu), size), to(gpu, size), pattern(gpu), timer(gpu, plan), seed(its_seed) {
    pattern.fill(from.get(), size, seed);
  }

  DeviceMemory from;
  DeviceMemory to;
  Pattern pattern;
  CopyTimer timer;
  std::uint32_t seed;  // each has a pattern of its own: data of another one are false
};

PeerCopies::PeerCopies(const std::vector<GpuInfo>& gpus, std::size_t bytes, CopyPlan plan)
    : gpus_(gpus.begin(), gpus.end()),
      bytes_(bytes),
      plan_(plan),
      sides_(gpus.size()),
      troubles_(gpus.size()),
      why_no_peers_(gpus.size(), std::vector<std::optional<std::string>>(gpus.size())) {
  for (Place place = 0; place < size(); ++place) {
    try {
      sides_[place] = std::make_shared<Side>(gpus_[place], bytes, plan,
                                             kSeed + static_cast<std::uint32_t>(place));
    } catch (const CudaError& error) {
      if (is_process_spoiled()) {
        throw;
      }
      troubles_[place] = Trouble{Status::failed, error.what()};
    }
  }
  for (Place a = 0; a < size(); ++a) {
    for (Place b = a + 1; b < size(); ++b) {
      open_access(a, b);
    }
  }
}

void PeerCopies::open_access(Place a, Place b) {
  if (!sides_[a] || !sides_[b]) {
    return;
  }
  auto why = why_no_access(gpus_[a], gpus_[b]);
  why = why ? why : why_no_access(gpus_[b], gpus_[a]);
  why_no_peers_[a][b] = why;
  why_no_peers_[b][a] = why;
}

const std::optional<std::string>& PeerCopies::why_no_peers(Place a, Place b) const {
  return why_no_peers_[a][b];
}

bool PeerCopies::has_peers() const {
  for (const PeerCopy& copy : all_copies(size())) {
    if (!why_no_peers(copy.by, copy.other)) {
      return true;
    }
  }
  return false;
}

PeerResults PeerCopies::run() {
  PeerResults results;
  results.troubles = troubles_;
  for (const PeerCopy& copy : all_copies(size())) {
    if (!takes_part(copy.by, results) || !takes_part(copy.other, results) ||
        why_no_peers(copy.by, copy.other)) {
      continue;
    }
    try {
      measure(copy, results);
    } catch (const TimedOut& error) {
      give_up(copy, {Status::timeout, error.what()}, results);
    } catch (const std::runtime_error& error) {
      give_up(copy, {Status::failed, error.what()}, results);
    }
  }
  return results;
}

bool PeerCopies::takes_part(Place place, const PeerResults& results) const {
  return sides_[place] && !results.troubles[place] && !results.broken_off;
}

void PeerCopies::measure(const PeerCopy& copy, PeerResults& results) {
  Side& source = *sides_[copy.source()];
  Side& target = *sides_[copy.target()];
  const Gpu& receiver = selected(gpus_[copy.target()]);
  receiver.check(cudaMemset(target.to.get(), 0, bytes_), "cudaMemset");
  receiver.synchronize();
  gpus_[copy.by].select();
  const auto seconds = sides_[copy.by]->timer.time({target.to.get(), source.from.get(), bytes_});
  receiver.select();
  const auto wrong = target.pattern.wrong_words(target.to.get(), bytes_, source.seed);
  if (wrong == 0) {
    results.rates.push_back({copy, copy_rate(seconds, plan_.copies, bytes_)});
    return;
  }
  results.false_copies.push_back(
      {copy, fmt::format("{} of {} words are false after {}: data are damaged on the way", wrong,
                         bytes_ / sizeof(std::uint32_t), text_of(copy))});
}

void PeerCopies::give_up(const PeerCopy& copy, Trouble trouble, PeerResults& results) const {
  trouble.reason = fmt::format("{}: {}", text_of(copy), trouble.reason);
  if (trouble.status == Status::failed && is_process_spoiled()) {
    results.broken_off = trouble.reason;
  }
  results.troubles[copy.by] = trouble;
  results.troubles[copy.other] = std::move(trouble);
}

std::string PeerCopies::text_of(const PeerCopy& copy) const {
  return fmt::format("{} {} {}", gpus_[copy.by].label(),
                     copy.way == Way::read ? "reads from" : "writes to", gpus_[copy.other].label());
}

}  // namespace fleetbench::gpu
