// One GPU of the node: who it is, what is wrong with it, how fast it is.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/gpu_sim/model/faults.hpp"
#include "tests/gpu_sim/model/settings.hpp"

namespace gpu_sim {

// A part of a device that does one thing after another; free from then on.
struct Engine {
  double free_ns = 0;
};

struct PciAddress {
  unsigned domain;
  unsigned bus;
};

class Device {
 public:
  Device(const Settings& settings, int index);

  // Of the node, whatever CUDA_VISIBLE_DEVICES says.
  int index() const { return index_; }
  const Faults& faults() const { return faults_; }
  const std::array<unsigned char, 16>& uuid() const { return uuid_; }
  std::string uuid_text() const;    // GPU-…
  std::string pci_text() const;     // 0000:1B:00.0
  std::string serial_text() const;  // thirteen digits
  PciAddress pci() const { return pci_; }
  int numa_node() const { return numa_node_; }
  std::size_t memory_bytes() const;
  // What may be allocated: less by what the driver keeps.
  std::size_t usable_bytes() const;

  // NVLinks that are up, and how many of them join it with `other`.
  int nvlinks() const;
  int nvlinks_to(const Device& other) const;
  // Two of them behind one switch of PCIe.
  bool is_neighbour(const Device& other) const;
  // That its NVLinks sent again: each copy over a slow path costs some.
  std::uint64_t repeated_packets() const { return repeated_packets_; }

  // How long the next operation of each kind takes. Consecutive calls differ by noise.
  double host_copy_ns(bool to_device, std::size_t bytes, bool page_locked);
  double peer_copy_ns(const Device& to, std::size_t bytes);
  // A kernel or memset that moves `bytes` from or to device memory and mixes `words`.
  double kernel_ns(double bytes, double mixed_words);
  double gemm_ns(double flop, double flop_per_s);

  // Counts operations, for faults that come with the K-th. The first is number 1.
  std::uint64_t next_copy() { return ++copies_; }
  std::uint64_t next_launch() { return ++launches_; }
  std::uint64_t next_gemm() { return ++gemms_; }

  // How much the chip works, from 0 to 1: falls within seconds after the last work.
  double activity() const;
  void worked() { last_work_ = std::chrono::steady_clock::now(); }

  Engine h2d, d2h, peer_out, peer_in, compute;
  std::size_t used_bytes = 0;

 private:
  // The figures that one GPU has a little other than the next.
  enum class Trait { to_device, from_device, peer, memory, compute };
  double varied(Trait trait, double ns);

  int index_;
  Faults faults_;
  std::string name_;  // for noise
  std::uint64_t seed_;
  double latency_;
  std::array<unsigned char, 16> uuid_{};
  PciAddress pci_;
  int numa_node_;
  NvLink nvlink_;
  std::uint64_t repeated_packets_ = 0;
  std::array<std::uint64_t, 5> repetitions_{};
  std::uint64_t copies_ = 0;
  std::uint64_t launches_ = 0;
  std::uint64_t gemms_ = 0;
  std::chrono::steady_clock::time_point last_work_;
};

}  // namespace gpu_sim
