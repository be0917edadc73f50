// A folder of its own for what a probe writes, gone when the probe is.
#pragma once

#include <filesystem>
#include <string>

namespace fleetbench {

// Where scratch goes when nobody says: $TMPDIR where it is set, else /var/tmp. Not /tmp, which is
// memory on many machines.
std::filesystem::path default_scratch_parent();

// A new folder below `parent` (empty: default_scratch_parent()), mode 0700, with a name that cannot
// be foretold. Destruction removes it with all that is in it, without following links or leaving
// its file system. It is removed too when this process is killed: a small child, which outlives it,
// waits for that. Not to be copied or moved; one thread.
class Scratch {
 public:
  // Throws std::runtime_error naming `parent`, what is wrong with it and the mend: absent, no
  // folder, read-only, not permitted, full.
  explicit Scratch(std::filesystem::path parent);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int janitor_ = -1;       // process
  int janitor_pipe_ = -1;  // closed when this process ends, whatever ends it
};

// Throws std::runtime_error unless `bytes` is at most `share` (0 to 1) of what is free for this
// user on the file system of `folder`. The error says what is free, asked for and allowed.
void require_free_space(const std::filesystem::path& folder, double bytes, double share);

// Removes `folder` with all that is in it, never following a link, never leaving its file system.
// What is gone already is no fault. False where something is left.
bool remove_tree(const std::filesystem::path& folder);

}  // namespace fleetbench
