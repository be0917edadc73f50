#include "tests/gpu_sim/model/memory.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace gpu_sim {

namespace {

// Addresses of device memory come out of this much, or less where the process may not have so much.
// It costs nothing: a program that reads from one of them ends with a segmentation fault, as it
// would with a GPU.
constexpr std::size_t kMostAddressSpace = std::size_t{16} << 40;
constexpr std::size_t kLeastAddressSpace = std::size_t{128} << 30;
constexpr std::size_t kGranule = std::size_t{2} << 20;

// With a gap behind: what runs over the end of one allocation must not hit the next.
std::size_t room_for(std::size_t bytes) {
  return (bytes + kGranule - 1) / kGranule * kGranule + kGranule;
}

std::byte* mapped(std::size_t bytes) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(address != MAP_FAILED, cudaErrorMemoryAllocation);
  return static_cast<std::byte*>(address);
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// The block that holds all of [begin, begin + bytes), or end().
template <typename Blocks>
auto block_around(const Blocks& blocks, std::uintptr_t begin, std::size_t bytes) {
  auto block = blocks.upper_bound(begin);
  if (block == blocks.begin()) {
    return blocks.end();
  }
  --block;
  const std::size_t offset = begin - block->first;
  return offset <= block->second.bytes && bytes <= block->second.bytes - offset &&
                 offset < block->second.bytes
             ? block
             : blocks.end();
}

// Whether any byte of a block lies in [begin, begin + bytes).
template <typename Blocks>
bool touches(const Blocks& blocks, std::uintptr_t begin, std::size_t bytes) {
  auto next = blocks.lower_bound(begin);
  if (next != blocks.end() && next->first < begin + std::max<std::size_t>(bytes, 1)) {
    return true;
  }
  return next != blocks.begin() && (--next, begin < next->first + next->second.bytes);
}

}  // namespace

Memory::Memory() {
  std::size_t bytes = kMostAddressSpace;
  void* address = MAP_FAILED;
  while (address == MAP_FAILED && bytes >= kLeastAddressSpace) {
    address = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bytes = address == MAP_FAILED ? bytes / 2 : bytes;
  }
  require(address != MAP_FAILED, cudaErrorMemoryAllocation);
  begin_ = number(address);
  end_ = begin_ + bytes;
  next_ = (begin_ + kGranule - 1) / kGranule * kGranule;
}

std::optional<Memory::Address> Memory::room_from(Address from, std::size_t room) const {
  for (const auto& [address, block] : device_) {
    const Address behind = address + room_for(block.bytes);
    if (from + room > address && from < behind) {
      from = behind;
    }
  }
  return from < end_ && room <= end_ - from ? std::optional(from) : std::nullopt;
}

void* Memory::allocate(Device& device, std::size_t bytes) {
  require(bytes <= device.usable_bytes() - device.used_bytes, cudaErrorMemoryAllocation);
  const std::size_t room = room_for(bytes);
  // Behind what was given last: what was freed is given again as late as can be.
  std::optional<Address> address = room_from(next_, room);
  if (!address) {
    address = room_from((begin_ + kGranule - 1) / kGranule * kGranule, room);
  }
  require(address.has_value(), cudaErrorMemoryAllocation);
  std::byte* backing = mapped(bytes);
  next_ = *address + room;
  device.used_bytes += bytes;
  device_[*address] = {&device, bytes, backing};
  return reinterpret_cast<void*>(*address);
}

Device& Memory::owner(const void* address) const {
  const auto block = device_.find(number(address));
  require(block != device_.end());
  return *block->second.device;
}

void Memory::release(const DeviceBlock& block) {
  block.device->used_bytes -= block.bytes;
  munmap(block.backing, block.bytes);
}

void Memory::free(const void* address) {
  const auto block = device_.find(number(address));
  require(block != device_.end());
  release(block->second);
  device_.erase(block);
}

void Memory::free_all(Device& device) {
  std::erase_if(device_, [&](const auto& block) {
    if (block.second.device != &device) {
      return false;
    }
    release(block.second);
    return true;
  });
}

void* Memory::allocate_host(std::size_t bytes) {
  std::byte* address = mapped(bytes);
  host_[number(address)] = {bytes, true};
  return address;
}

std::map<Memory::Address, Memory::HostBlock>::const_iterator Memory::host_at(
    const void* address, bool ours, cudaError_t otherwise) const {
  const auto block = host_.find(number(address));
  require(block != host_.end() && block->second.ours == ours, otherwise);
  return block;
}

void Memory::free_host(const void* address) {
  const auto block = host_at(address, true, cudaErrorInvalidValue);
  munmap(const_cast<void*>(address), block->second.bytes);
  host_.erase(block);
}

void Memory::register_host(const void* address, std::size_t bytes) {
  require(address != nullptr && bytes > 0 && !touches(device_, number(address), bytes));
  require(!touches(host_, number(address), bytes), cudaErrorHostMemoryAlreadyRegistered);
  host_[number(address)] = {bytes, false};
}

void Memory::unregister_host(const void* address) {
  host_.erase(host_at(address, false, cudaErrorHostMemoryNotRegistered));
}

bool Memory::is_page_locked(const void* address) const {
  return block_around(host_, number(address), 1) != host_.end();
}

Place Memory::find(const void* address, std::size_t bytes, cudaError_t otherwise) const {
  const Address begin = number(address);
  const auto device = block_around(device_, begin, bytes);
  if (device != device_.end()) {
    return {MemoryKind::device, device->second.device,
            device->second.backing + (begin - device->first)};
  }
  auto* bytes_of_host = static_cast<std::byte*>(const_cast<void*>(address));
  if (block_around(host_, begin, bytes) != host_.end()) {
    return {MemoryKind::page_locked, nullptr, bytes_of_host};
  }
  // Partly in a block, or where device memory was: neither can be copied.
  const bool ours = begin >= begin_ && begin < end_;
  require(address != nullptr && !ours && !touches(host_, begin, bytes), otherwise);
  return {MemoryKind::pageable, nullptr, bytes_of_host};
}

std::byte* Memory::reach(const Device& device, const void* address, std::size_t bytes) const {
  const Place place = find(address, bytes, cudaErrorIllegalAddress);
  const bool reachable =
      place.kind == MemoryKind::page_locked ||
      (place.kind == MemoryKind::device &&
       (place.device == &device || peer_access.contains({device.index(), place.device->index()})));
  require(reachable, cudaErrorIllegalAddress);
  return place.bytes;
}

std::size_t Memory::host_allocations() const {
  return static_cast<std::size_t>(std::count_if(
      host_.begin(), host_.end(), [](const auto& block) { return block.second.ours; }));
}

}  // namespace gpu_sim
