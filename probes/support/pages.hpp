// Memory straight from the kernel, for buffers that are measured.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace fleetbench {

// `bytes` zeroed bytes, aligned to a page, owned by this object. Unlike the heap it gives them back
// to the system when it goes, so that no probe measures beside another's memory. Pages are placed
// on the NUMA node of the thread that first writes them. Throws std::system_error when there is no
// memory. Moves, does not copy; no thread safety of its own.
class Pages {
 public:
  explicit Pages(std::size_t bytes) : size_(bytes == 0 ? 1 : bytes) {
    void* address =
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(),
                              "mmap of " + std::to_string(size_) + " bytes for a buffer");
    }
    data_ = static_cast<std::byte*>(address);
  }
  ~Pages() { release(); }

  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Pages& operator=(Pages&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // Gives up the memory without unmapping it: for a buffer that a transfer which went wrong may
  // still write to.
  void leak() noexcept {
    data_ = nullptr;
    size_ = 0;
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }
  // The same memory as whole elements of a trivial type.
  template <typename T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }

 private:
  void release() {
    if (data_ != nullptr) {
      munmap(data_, size_);
    }
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace fleetbench
