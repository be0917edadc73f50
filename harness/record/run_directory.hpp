// The folder of one run: run.json, journal.jsonl, report.json, fleetbench.prom, verdict, lock.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "harness/record/run_lock.hpp"

namespace fleetbench::record {

class RunDirectory {
 public:
  // Creates `path` and the folders above it. An existing folder is taken if it is empty or holds
  // nothing but marks of ranks that came up (`hello`). Throws InputError where it cannot be
  // written, holds a run already or something else.
  static RunDirectory create(const std::filesystem::path& path);
  // Throws InputError where it is no run directory.
  static RunDirectory open(const std::filesystem::path& path);
  // The same, to write into. Throws InputError also where somebody else does.
  static RunDirectory open_to_write(const std::filesystem::path& path);
  // Whether there is something to open.
  static bool holds_run(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path run() const { return path_ / "run.json"; }
  std::filesystem::path journal() const { return path_ / "journal.jsonl"; }
  std::filesystem::path report() const { return path_ / "report.json"; }
  std::filesystem::path prometheus() const { return path_ / "fleetbench.prom"; }
  std::filesystem::path verdict() const { return path_ / "verdict"; }
  // Says that whoever writes here is alive. Of a directory that is written to.
  void say_alive() const;

 private:
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  std::shared_ptr<const RunLock> lock_;  // null: only read
};

// Creates a folder and those above it, which others may read and not write whatever the umask says.
void create_folders(const std::filesystem::path& path, std::error_code& error);

// The same for a folder in that of a run, where a link to another is refused.
void create_own_folder(const std::filesystem::path& path, std::error_code& error);

// `now` outlives the machine; `later` outlives this process, and takes no time on a busy disk.
enum class ToDisk { now, later };

// Replaces a file by a rename, so that a reader sees the old text or the new, whole. A link in its
// place is replaced too, never followed. Throws std::system_error naming the file.
void write_whole(const std::filesystem::path& path, const std::string& text,
                 ToDisk to_disk = ToDisk::now);

// Puts a text of at most the old one's length in the old one's place, filled up with spaces; needs
// no room on a full disk. Throws std::system_error.
void write_in_place(const std::filesystem::path& path, const std::string& text);

// Line numbers of a text of this size fit into an int.
inline constexpr std::size_t kMostFile_bytes = (std::size_t{1} << 31U) - 1;

// Throws InputError where there is something of this name that is no file and no link to one: a
// pipe for instance, in which a reader would wait for ever.
void require_regular(const std::filesystem::path& path);

// Throws InputError naming the file where it cannot be read, is a device, or has more than `most`
// bytes.
std::string read_whole(const std::filesystem::path& path, std::size_t most = kMostFile_bytes);

}  // namespace fleetbench::record
