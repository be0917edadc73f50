#include "harness/record/run_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw std::system_error(errno, std::generic_category(),
                          fmt::format("{}: cannot {}", path.string(), what));
}

class File {
 public:
  File(const fs::path& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (number_ < 0) {
      fail(path, "be opened");
    }
  }
  ~File() { ::close(number_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

void check_free(const fs::path& path) {
  for (const auto& entry : fs::directory_iterator(path)) {
    const auto name = entry.path().filename();
    if (name == "run.json" || name == "journal.jsonl") {
      throw InputError(fmt::format(
          "{} holds a run already ({}); choose another folder with --out, or look at this one with "
          "`fleetbench analyze {}`",
          path.string(), name.string(), path.string()));
    }
    // What `fleetbench gate` leaves there before the run begins.
    if (name != "hello" && name != "lock" && !name.string().starts_with("attempt-")) {
      throw InputError(fmt::format("{} is not empty (it holds {}); choose a new folder with --out",
                                   path.string(), name.string()));
    }
  }
}

}  // namespace

void create_folders(const fs::path& path, std::error_code& error) {
  fs::path folder;
  for (const fs::path& part : path) {
    folder /= part;
    if (::mkdir(folder.c_str(), 0755) != 0) {
      const int why = errno;
      std::error_code unknown;
      if (!fs::is_directory(folder, unknown)) {
        error.assign(why, std::generic_category());
        return;
      }
    }
  }
}

void create_own_folder(const fs::path& path, std::error_code& error) {
  if (::mkdir(path.c_str(), 0755) != 0) {
    const int why = errno;
    std::error_code unknown;
    if (!fs::is_directory(fs::symlink_status(path, unknown))) {
      error.assign(why, std::generic_category());
    }
  }
}

RunDirectory RunDirectory::create(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error)) {
    throw InputError(
        fmt::format("--out {}: a file of this name exists; choose a folder", path.string()));
  }
  create_folders(path, error);
  if (error) {
    throw InputError(
        fmt::format("--out {}: cannot create this folder: {}; choose one that you may write",
                    path.string(), error.message()));
  }
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    throw InputError(fmt::format("--out {}: this folder is not writable: {}; choose another",
                                 path.string(), std::strerror(errno)));
  }
  check_free(path);  // nothing is left in a folder that is not ours
  RunDirectory directory(path);
  directory.lock_ = std::make_shared<RunLock>(path);
  check_free(path);
  return directory;
}

RunDirectory RunDirectory::open(const fs::path& path) {
  RunDirectory directory(path);
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    throw InputError(
        fmt::format("{} is not a folder; give the run directory that "
                    "`fleetbench run` printed",
                    path.string()));
  }
  if (!holds_run(path)) {
    throw InputError(fmt::format("{} is not a run directory: it has no run.json", path.string()));
  }
  return directory;
}

RunDirectory RunDirectory::open_to_write(const fs::path& path) {
  RunDirectory directory = open(path);
  directory.lock_ = std::make_shared<RunLock>(path);
  return directory;
}

bool RunDirectory::holds_run(const fs::path& path) {
  std::error_code error;
  return fs::exists(RunDirectory(path).run(), error);
}

void RunDirectory::say_alive() const { lock_->say_alive(); }

void write_whole(const fs::path& path, const std::string& text, ToDisk to_disk) {
  const fs::path part = path.string() + ".part";
  {
    // What has this name is what a killed run left, or a link, a pipe or another name of a file
    // that somebody else put there.
    ::unlink(part.c_str());
    const File file(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t count = ::write(file.number(), text.data() + done, text.size() - done);
      if (count < 0 && errno != EINTR) {
        fail(part, "be written");
      }
      done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    if (to_disk == ToDisk::now && ::fsync(file.number()) != 0) {
      fail(part, "be brought to disk");
    }
  }
  if (::rename(part.c_str(), path.c_str()) != 0) {
    fail(path, "be replaced");
  }
  if (to_disk == ToDisk::later) {
    return;
  }
  const File folder(path.has_parent_path() ? path.parent_path() : ".", O_RDONLY | O_DIRECTORY);
  ::fsync(folder.number());
}

void write_in_place(const fs::path& path, const std::string& text) {
  const File file(path, O_WRONLY | O_NOFOLLOW);
  std::string filled = text;
  filled.resize(std::max(text.size(), static_cast<std::size_t>(fs::file_size(path))), ' ');
  if (::pwrite(file.number(), filled.data(), filled.size(), 0) !=
      static_cast<ssize_t>(filled.size())) {
    fail(path, "be written");
  }
}

void require_regular(const fs::path& path) {
  std::error_code unknown;
  const auto status = fs::status(path, unknown);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw InputError(fmt::format("{}: is no file", path.string()));
  }
}

std::string read_whole(const fs::path& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw InputError(fmt::format("{}: cannot read: {}", path.string(), std::strerror(errno)));
  }
  std::error_code unknown;
  if (fs::is_character_file(path, unknown) || fs::is_block_file(path, unknown)) {
    throw InputError(fmt::format("{}: is a device; give a file", path.string()));
  }
  constexpr std::size_t kAtOnce = std::size_t{1} << 20U;
  std::string text;
  const auto size = fs::file_size(path, unknown);
  if (!unknown && size <= most) {
    text.reserve(size + kAtOnce);
  }
  for (bool too_large = !unknown && size > most; file || too_large;) {
    if (too_large) {
      throw InputError(
          fmt::format("{}: has more than {} bytes, and no more are read", path.string(), most));
    }
    const std::size_t known = text.size();
    text.resize(known + kAtOnce);
    file.read(text.data() + known, kAtOnce);
    text.resize(known + static_cast<std::size_t>(file.gcount()));
    too_large = text.size() > most;
  }
  return text;
}

}  // namespace fleetbench::record
