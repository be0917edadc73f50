// What the kernels of fleetbench do, for the CPU. Written from their description, not from their
// code: where both err, they shall not err alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "tests/gpu_sim/model/memory.hpp"

namespace gpu_sim {

// The memory that a kernel can reach.
struct Reach {
  const Memory* memory;
  const Device* device;

  // Where `count` elements at `address` are; throws cudaErrorIllegalAddress.
  template <typename T>
  T* operator()(T* address, std::size_t count) const {
    return reinterpret_cast<T*>(memory->reach(*device, address, count * sizeof(T)));
  }
};

// One launch, with its arguments taken out of the program's hands.
struct KernelWork {
  double bytes = 0;        // to and from device memory
  double mixed_words = 0;  // arithmetic, see chip.hpp
  std::function<void(const Reach&)> effect;
  // Of a kernel that ends when something happens: the time, or nothing.
  std::function<std::optional<double>(const Reach&, double begin_ns, double host_ns)> end;
};

struct Launch {
  void** arguments;  // a pointer to each
  std::uint64_t threads;
};

using Twin = KernelWork (*)(const Launch&);

// Null where there is none by that name.
Twin twin_of(std::string_view kernel);

}  // namespace gpu_sim
