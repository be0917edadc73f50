#include "tests/gpu_sim/nccl/socket.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "tests/gpu_sim/nccl/nccl_error.hpp"

namespace gpu_sim::nccl {

namespace {

void require_done(bool done, const std::string& what) {
  require(done, ncclSystemError, "Call to " + what + " failed : " + std::strerror(errno));
}

sockaddr_in name_of(const Address& address) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = address.host;
  name.sin_port = htons(address.port);
  return name;
}

Descriptor new_socket() {
  Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  require_done(made.get() >= 0, "socket");
  return made;
}

// Small messages go at once.
void hurry(const Descriptor& socket) {
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    close(number_);
  }
}

std::string Address::text() const {
  std::array<char, INET_ADDRSTRLEN> digits{};
  inet_ntop(AF_INET, &host, digits.data(), digits.size());
  return std::string(digits.data()) + "<" + std::to_string(port) + ">";
}

Descriptor listening(Address& address) {
  Descriptor socket = new_socket();
  sockaddr_in name = name_of(address);
  socklen_t size = sizeof name;
  require_done(bind(socket.get(), reinterpret_cast<sockaddr*>(&name), size) == 0, "bind");
  require_done(listen(socket.get(), SOMAXCONN) == 0, "listen");
  require_done(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size) == 0,
               "getsockname");
  address.port = ntohs(name.sin_port);
  return socket;
}

Descriptor connecting(const Address& address) {
  Descriptor socket = new_socket();
  hurry(socket);
  const sockaddr_in name = name_of(address);
  const int result = connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name);
  require_done(result == 0 || errno == EINPROGRESS, "connect to " + address.text());
  return socket;
}

void require_connected(const Descriptor& socket, const Address& address) {
  int error = 0;
  socklen_t size = sizeof error;
  require_done(getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0, "getsockopt");
  require(error == 0, ncclRemoteError,
          "socketPollConnect: connect to " + address.text() + " returned " + std::strerror(error));
}

Descriptor accepted(const Descriptor& listener) {
  Descriptor socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.get() >= 0) {
    hurry(socket);
  }
  return socket;
}

Bell::Bell() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  require_done(descriptor_.get() >= 0, "eventfd");
}

void Bell::ring() const { eventfd_write(descriptor_.get(), 1); }

void Bell::silence() const {
  eventfd_t count = 0;
  eventfd_read(descriptor_.get(), &count);
}

}  // namespace gpu_sim::nccl
