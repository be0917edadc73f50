#include "probes/images/file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "probes/support/printable.hpp"

namespace fleetbench::images {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* doing, int error) {
  throw std::system_error(error, std::generic_category(),
                          printable_text(path.string()) + ": " + doing);
}

}  // namespace

OpenFile::OpenFile(const std::filesystem::path& path, int flags)
    : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {
  if (descriptor_ < 0) {
    fail(path, "open", errno);
  }
}

OpenFile::~OpenFile() { close(descriptor_); }

void read_file(const std::filesystem::path& path, Bytes& bytes) {
  const OpenFile file(path, O_RDONLY);
  struct stat status {};
  if (fstat(file.descriptor(), &status) != 0) {
    fail(path, "stat", errno);
  }
  bytes.resize(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(file.descriptor(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno != EINTR) {
      fail(path, "read", errno);
    }
    if (got == 0) {
      bytes.resize(done);  // it became shorter meanwhile; its decoder will say so
    }
    done += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const OpenFile file(path, O_WRONLY | O_CREAT | O_EXCL);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = write(file.descriptor(), bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno != EINTR) {
      fail(path, "write", errno);
    }
    done += put > 0 ? static_cast<std::size_t>(put) : 0;
  }
}

void drop_from_page_cache(const std::filesystem::path& path) {
  const OpenFile file(path, O_RDONLY);
  if (fdatasync(file.descriptor()) != 0) {
    fail(path, "sync", errno);
  }
  if (const int error = posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED); error != 0) {
    fail(path, "drop from the page cache", error);
  }
}

}  // namespace fleetbench::images
