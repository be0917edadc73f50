// What memory there is: of devices, page-locked, and all other, which the model knows nothing of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tests/gpu_sim/model/cuda_error.hpp"
#include "tests/gpu_sim/model/device.hpp"

namespace gpu_sim {

enum class MemoryKind { device, page_locked, pageable };

// Bytes that an operation works on, where the simulation may touch them.
struct Place {
  MemoryKind kind;
  Device* device;    // of MemoryKind::device
  std::byte* bytes;  // never a pointer into device memory as the program knows it
};

class Memory {
 public:
  Memory();

  // Memory of `device`: an address that the program cannot touch, never given twice, aligned to 2
  // MiB. Throws cudaErrorMemoryAllocation where the device has not so much left. `bytes` > 0.
  void* allocate(Device& device, std::size_t bytes);
  // The device whose memory begins at `address`; throws cudaErrorInvalidValue where none does.
  Device& owner(const void* address) const;
  void free(const void* address);
  // Frees what the device has; its page-locked memory stays.
  void free_all(Device& device);

  // Page-locked memory, of the simulation's own or of the program's.
  void* allocate_host(std::size_t bytes);
  void free_host(const void* address);
  void register_host(const void* address, std::size_t bytes);
  void unregister_host(const void* address);
  bool is_page_locked(const void* address) const;

  // All of [address, address + bytes); throws `otherwise` where it is not all in one allocation.
  Place find(const void* address, std::size_t bytes, cudaError_t otherwise) const;
  // The same for a kernel on `device`: throws cudaErrorIllegalAddress for memory that it cannot
  // reach, which is pageable memory and that of devices without access.
  std::byte* reach(const Device& device, const void* address, std::size_t bytes) const;

  // Who may reach into whose memory: pairs of device indices.
  std::set<std::pair<int, int>> peer_access;

  std::size_t device_allocations() const { return device_.size(); }
  std::size_t host_allocations() const;
  std::size_t host_registrations() const { return host_.size() - host_allocations(); }

 private:
  struct DeviceBlock {
    Device* device;
    std::size_t bytes;
    std::byte* backing;
  };
  struct HostBlock {
    std::size_t bytes;
    bool ours;
  };
  using Address = std::uintptr_t;

  std::map<Address, HostBlock>::const_iterator host_at(const void* address, bool ours,
                                                       cudaError_t otherwise) const;
  void release(const DeviceBlock& block);
  // Where `room` bytes are free, not before `from`.
  std::optional<Address> room_from(Address from, std::size_t room) const;

  Address begin_ = 0;
  Address next_ = 0;
  Address end_ = 0;
  std::map<Address, DeviceBlock> device_;
  std::map<Address, HostBlock> host_;
};

}  // namespace gpu_sim
