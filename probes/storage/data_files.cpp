#include "probes/storage/data_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "probes/support/file_descriptor.hpp"
#include "probes/support/pages.hpp"
#include "probes/support/printable.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock_bytes = 1 << 20;
constexpr double kForgotten = 0.01;
constexpr std::size_t kDirectTry_bytes = 1 << 16;  // a multiple of every logical block size

}  // namespace

void throw_errno(const char* what, const fs::path& path) {
  const int error = errno;
  throw std::runtime_error(
      fmt::format("{} {}: {}", what, printable_text(path.string()), std::strerror(error)));
}

// S. Vigna's splitmix64 (public domain): some gigabytes a second, and no two blocks are alike.
void fill_with_noise(std::span<std::byte> bytes, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15U;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof state) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    z ^= z >> 31U;
    std::memcpy(bytes.data() + at, &z, std::min(sizeof z, bytes.size() - at));
  }
}

void write_data_file(const fs::path& path, std::uint64_t bytes, std::uint64_t seed) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) {
    throw_errno("creating", path);
  }
  const Pages pages(kBlock_bytes);
  std::uint64_t written = 0;
  while (written < bytes) {
    const auto block = pages.bytes().first(std::min<std::uint64_t>(kBlock_bytes, bytes - written));
    fill_with_noise(block, seed + (written << 8U));
    for (std::size_t done = 0; done < block.size();) {
      const ssize_t count = write(file.get(), block.data() + done, block.size() - done);
      if (count < 0 && errno != EINTR) {
        throw_errno("writing", path);
      }
      done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    written += block.size();
  }
  if (fsync(file.get()) != 0) {
    throw_errno("syncing", path);
  }
}

std::optional<double> cached_share(const fs::path& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || status.st_size <= 0) {
    return std::nullopt;
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* address = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) {
    return std::nullopt;
  }
  std::vector<unsigned char> resident((bytes + page - 1) / page);
  const bool told = mincore(address, bytes, resident.data()) == 0;
  munmap(address, bytes);
  if (!told) {
    return std::nullopt;
  }
  const auto count = std::count_if(resident.begin(), resident.end(),
                                   [](unsigned char flags) { return (flags & 1U) != 0; });
  return static_cast<double>(count) / static_cast<double>(resident.size());
}

bool drop_from_cache(const fs::path& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) {
    return false;
  }
  return cached_share(path).value_or(1) <= kForgotten;
}

bool direct_io_works(const fs::path& folder) {
  const fs::path path = folder / "direct";
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600));
  const Pages pages(kDirectTry_bytes);
  const bool works =
      file &&
      pwrite(file.get(), pages.data(), pages.size(), 0) == static_cast<ssize_t>(pages.size()) &&
      pread(file.get(), pages.data(), pages.size(), 0) == static_cast<ssize_t>(pages.size());
  unlink(path.c_str());
  return works;
}

}  // namespace fleetbench
