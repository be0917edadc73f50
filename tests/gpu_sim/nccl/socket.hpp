// Sockets of TCP over IPv4.
#pragma once

#include <cstdint>
#include <string>

namespace gpu_sim::nccl {

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  int get() const { return number_; }

 private:
  int number_;
};

struct Address {
  std::uint32_t host = 0;  // as the kernel wants it
  std::uint16_t port = 0;

  std::string text() const;  // 10.0.0.1<4711>
};

// Where other processes reach this one: the address of the first interface that is up and that
// NCCL_SOCKET_IFNAME admits; where that is not set, of the first beside loopback, and else
// 127.0.0.1. Throws NcclError where NCCL_SOCKET_IFNAME admits none.
std::uint32_t own_host();

// All of these never block. Errors are NcclError of ncclSystemError.
// Listens on a port of its own at `address.host`, which it puts into `address`.
Descriptor listening(Address& address);
// On its way to `address`: writable when it is there or was refused.
Descriptor connecting(const Address& address);
// What became of it: throws NcclError where it was refused.
void require_connected(const Descriptor& socket, const Address& address);
// None (-1) where nobody waits.
Descriptor accepted(const Descriptor& listener);

// Wakes who polls it.
class Bell {
 public:
  Bell();
  int get() const { return descriptor_.get(); }
  void ring() const;
  void silence() const;

 private:
  Descriptor descriptor_;
};

}  // namespace gpu_sim::nccl
