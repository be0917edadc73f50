// Handles that the program holds. None is given twice, so one that was destroyed is known as such.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "tests/gpu_sim/model/cuda_error.hpp"

namespace gpu_sim {

template <typename Handle, typename T>
class Handles {
 public:
  Handle add(std::shared_ptr<T> object) {
    next_ += 16;
    const auto handle = reinterpret_cast<Handle>(next_);
    objects_[handle] = std::move(object);
    return handle;
  }

  // Throws cudaErrorInvalidResourceHandle.
  std::shared_ptr<T> get(Handle handle) const {
    const auto object = objects_.find(handle);
    require(object != objects_.end(), cudaErrorInvalidResourceHandle);
    return object->second;
  }

  void remove(Handle handle) {
    require(objects_.erase(handle) == 1, cudaErrorInvalidResourceHandle);
  }

  template <typename Which>
  void remove_if(Which which) {
    std::erase_if(objects_, [&](const auto& entry) { return which(*entry.second); });
  }

  std::size_t size() const { return objects_.size(); }

 private:
  // In the first pages of memory, where nothing lies: a program that looks into a handle ends.
  // Above the few handles with a meaning of their own.
  std::uintptr_t next_ = 4096;
  std::map<Handle, std::shared_ptr<T>> objects_;
};

}  // namespace gpu_sim
