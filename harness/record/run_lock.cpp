#include "harness/record/run_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

std::filesystem::path lock_file(const std::filesystem::path& directory) {
  return directory / "lock";
}

// The kind that belongs to the open file, so that no other part of the process gives it up.
struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& directory)
    : file_(::open(lock_file(directory).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644)) {
  if (file_ < 0) {
    throw std::system_error(errno, std::generic_category(),
                            lock_file(directory).string() + ": cannot be opened");
  }
  auto lock = whole_file(F_WRLCK);
  if (::fcntl(file_, F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) {
    ::close(file_);
    throw InputError(fmt::format(
        "{}: another fleetbench is writing into this folder; wait until it ends, or choose another "
        "with --out",
        directory.string()));
  }
  say_alive();
}

RunLock::~RunLock() { ::close(file_); }

void RunLock::say_alive() const { ::futimens(file_, nullptr); }

bool is_locked(const std::filesystem::path& directory) {
  // Only to ask: also where nothing can be written any more.
  const int file = ::open(lock_file(directory).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  auto lock = whole_file(F_WRLCK);
  const bool asked = ::fcntl(file, F_OFD_GETLK, &lock) == 0;
  ::close(file);
  return asked && lock.l_type != F_UNLCK;
}

std::optional<long long> last_alive_ns(const std::filesystem::path& directory) {
  struct stat status {};
  if (::lstat(lock_file(directory).c_str(), &status) != 0) {
    return std::nullopt;
  }
  return status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec;
}

}  // namespace fleetbench::record
