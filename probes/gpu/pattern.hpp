// Patterns that are written and looked for on the GPU, so that the check of a copy does not depend
// on another copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "probes/gpu/handles.hpp"
#include "probes/gpu/kernels.hpp"

namespace fleetbench::gpu {

// Blocks enough to fill the device, of any size of data.
Grid full_grid(const GpuInfo& info);

// The same number as Pattern::checksum(), of bytes on the host. A multiple of 4 of them.
std::uint64_t checksum_on_host(std::span<const std::byte> data);

class Pattern {
 public:
  explicit Pattern(const Gpu& gpu);

  // All words of `data` follow from the seed. `bytes`: a multiple of 4. Both return when it is
  // done.
  void fill(void* data, std::size_t bytes, std::uint32_t seed);
  // How many words do not.
  std::uint64_t wrong_words(const void* data, std::size_t bytes, std::uint32_t seed);
  // A number that follows from all words and their places.
  std::uint64_t checksum(const void* data, std::size_t bytes);

 private:
  std::uint64_t counted();

  const Gpu& gpu_;
  Grid grid_;
  Stream stream_;
  DeviceMemory count_;
};

}  // namespace fleetbench::gpu
