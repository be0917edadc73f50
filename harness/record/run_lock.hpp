// Who writes into a run directory, as others see it: the lock is gone with its holder, however that
// ended, and its time says when the holder was last alive.
#pragma once

#include <filesystem>
#include <optional>

namespace fleetbench::record {

class RunLock {
 public:
  // Takes the lock of a run directory. Throws InputError where somebody else holds it,
  // std::system_error where the file cannot be made. On a file system without locks it holds
  // nothing and complains of nothing.
  explicit RunLock(const std::filesystem::path& directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  void say_alive() const;

 private:
  int file_ = -1;
};

// Whether somebody holds the lock. Never takes it, not even for a moment.
bool is_locked(const std::filesystem::path& directory);

// Nanoseconds since the epoch, on the clock of the file system; absent where there is no lock file.
std::optional<long long> last_alive_ns(const std::filesystem::path& directory);

}  // namespace fleetbench::record
