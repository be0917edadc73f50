#include "tests/gpu_sim/model/device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/gpu_sim/model/chip.hpp"
#include "tests/gpu_sim/model/noise.hpp"

namespace gpu_sim {

namespace {

// Where the eight GPUs of a common chassis sit; more of them are in the next domain.
constexpr std::array<unsigned, 8> kBuses{0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF};

// What a slow path leaves in the counter of each link, before this process and with each copy.
constexpr std::uint64_t kRepeatedBefore = 4711;
constexpr std::uint64_t kRepeatedByCopy = 10;

std::array<unsigned char, 16> uuid_of(const std::string& name) {
  std::array<unsigned char, 16> uuid{};
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    uuid[i] = static_cast<unsigned char>(hashed(name, i) & 0xFFU);
  }
  return uuid;
}

// The rate of a link falls by half with each generation down.
double pcie_share(const Faults& faults) {
  return std::ldexp(faults.pcie_width / static_cast<double>(chip::kPcieWidth),
                    faults.pcie_generation - chip::kPcieGeneration);
}

}  // namespace

Device::Device(const Settings& settings, int index)
    : index_(index),
      faults_(settings.gpus[static_cast<std::size_t>(index)]),
      name_(settings.node + "/" + std::to_string(index)),
      seed_(settings.seed),
      latency_(settings.latency),
      uuid_(uuid_of(name_)),
      pci_{static_cast<unsigned>(index) / 8U, kBuses[static_cast<std::size_t>(index) % 8U]},
      numa_node_(index * settings.numa_nodes / static_cast<int>(settings.gpus.size())),
      nvlink_(settings.nvlink),
      repeated_packets_(faults_.peer.empty() ? 0 : kRepeatedBefore) {}

std::string Device::uuid_text() const {
  std::string text = "GPU-";
  std::array<char, 3> digits{};
  for (std::size_t i = 0; i < uuid_.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(uuid_[i]));
    text += digits.data();
  }
  return text;
}

std::string Device::pci_text() const {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04X:%02X:00.0", pci_.domain, pci_.bus);
  return text.data();
}

std::string Device::serial_text() const {
  return std::to_string(1'650'000'000'000U + hashed(name_, 99) % 1'000'000'000U);
}

std::size_t Device::memory_bytes() const {
  return faults_.memory_bytes.value_or(chip::kMemoryBytes);
}

std::size_t Device::usable_bytes() const {
  return faults_.memory_bytes ? *faults_.memory_bytes : chip::kMemoryBytes - chip::kReservedBytes;
}

double Device::varied(Trait trait, double ns) {
  const auto number = static_cast<std::size_t>(trait);
  const double gpu = bell(hashed(name_, seed_ * 1000 + number));
  const double repetition = bell(hashed(name_ + "#" + std::to_string(number),
                                        hashed("repetition", seed_) + repetitions_[number]++));
  return ns * (1 + chip::kBetweenGpus * gpu + chip::kBetweenRepetitions * repetition);
}

int Device::nvlinks() const {
  return nvlink_ == NvLink::none ? 0 : chip::kNvlinks - faults_.nvlinks_down;
}

int Device::nvlinks_to(const Device& other) const {
  const bool joined = nvlink_ == NvLink::switches || is_neighbour(other);
  return joined ? std::min(nvlinks(), other.nvlinks()) : 0;
}

bool Device::is_neighbour(const Device& other) const {
  return index_ != other.index_ && index_ / 2 == other.index_ / 2;
}

double Device::host_copy_ns(bool to_device, std::size_t bytes, bool page_locked) {
  double rate =
      chip::kPcieBytesPerS * pcie_share(faults_) * (to_device ? faults_.h2d : faults_.d2h);
  if (!page_locked) {
    rate = std::min(rate, chip::kPageableBytesPerS);
  }
  return varied(to_device ? Trait::to_device : Trait::from_device,
                latency_ * chip::kCopyNs + static_cast<double>(bytes) / rate * 1e9);
}

double Device::peer_copy_ns(const Device& to, std::size_t bytes) {
  const auto fault = faults_.peer.find(to.index());
  const bool is_slow = fault != faults_.peer.end();
  repeated_packets_ += is_slow ? kRepeatedByCopy : 0;
  const int links = nvlinks_to(to);
  const double healthy = links > 0 ? chip::kPeerBytesPerS * links / chip::kNvlinks *
                                         std::min(faults_.nvlink, to.faults().nvlink)
                                   : chip::kPciePeerBytesPerS;
  const double rate = healthy * (is_slow ? fault->second : 1);
  return varied(Trait::peer, latency_ * chip::kCopyNs + static_cast<double>(bytes) / rate * 1e9);
}

double Device::kernel_ns(double bytes, double mixed_words) {
  const double memory_ns = bytes / (chip::kMemoryBytesPerS * faults_.memory) * 1e9;
  const double mixing_ns = mixed_words / (chip::kMixedWordsPerS * faults_.sm_clock) * 1e9;
  return varied(memory_ns > mixing_ns ? Trait::memory : Trait::compute,
                latency_ * chip::kKernelNs + std::max(memory_ns, mixing_ns));
}

double Device::gemm_ns(double flop, double flop_per_s) {
  return varied(Trait::compute,
                latency_ * chip::kGemmNs + flop / (flop_per_s * faults_.sm_clock) * 1e9);
}

double Device::activity() const {
  if (last_work_.time_since_epoch().count() == 0) {
    return 0;
  }
  const std::chrono::duration<double> idle = std::chrono::steady_clock::now() - last_work_;
  return std::exp(-std::max(0.0, idle.count() - 2) / 5);
}

}  // namespace gpu_sim
