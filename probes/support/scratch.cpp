#include "probes/support/scratch.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>

namespace fleetbench {
namespace {

constexpr int kJanitorTries = 50;
constexpr timespec kBetweenTries{0, 200'000'000};

std::string mend(int error, const std::filesystem::path& parent) {
  switch (error) {
    case ENOENT:
      return "make it, or name another folder with --scratch";
    case ENOTDIR:
      return "name a folder with --scratch";
    case EROFS:
      return "it is read-only: remount it, or name another folder with --scratch";
    case EACCES:
    case EPERM:
      return "let this user write there, or name another folder with --scratch";
    case ENOSPC:
    case EDQUOT:
      return "free some space, or name another folder with --scratch";
    default:
      return fmt::format("see `ls -ld {}`", parent.string());
  }
}

// One folder, by descriptor, so that nobody can swap a link in between looking and removing.
bool empty_folder(int folder, dev_t device);

bool remove_entry(int folder, const char* name, dev_t device) {
  if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) {
    return true;
  }
  if (errno != EISDIR && errno != EPERM) {
    return false;
  }
  const int child = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (child < 0) {
    return errno == ENOENT;
  }
  struct stat status {};
  if (fstat(child, &status) != 0 || status.st_dev != device) {
    close(child);
    return false;
  }
  const bool emptied = empty_folder(child, device);
  return emptied && (unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT);
}

// Closes `folder`.
bool empty_folder(int folder, dev_t device) {
  DIR* stream = fdopendir(folder);
  if (stream == nullptr) {
    close(folder);
    return false;
  }
  bool all = true;
  while (const dirent* entry = readdir(stream)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) {
      all = remove_entry(dirfd(stream), entry->d_name, device) && all;
    }
  }
  closedir(stream);
  return all;
}

// What is being written while we remove is tried again: programs of the dead process may take a
// moment to end.
[[noreturn]] void be_janitor(int pipe_end, const std::filesystem::path& folder) {
  prctl(PR_SET_NAME, "fb-janitor");
  setsid();
  for (const int signal_number : {SIGTERM, SIGINT, SIGHUP}) {
    signal(signal_number, SIG_IGN);
  }
  dup2(pipe_end, 0);
  close_range(1, ~0U, 0);
  char byte = 0;
  while (read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  for (int i = 0; i < kJanitorTries && !remove_tree(folder); ++i) {
    nanosleep(&kBetweenTries, nullptr);
  }
  _exit(0);
}

}  // namespace

std::filesystem::path default_scratch_parent() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp";
}

Scratch::Scratch(std::filesystem::path parent) {
  if (parent.empty()) {
    parent = default_scratch_parent();
  }
  std::string name = (parent / "fleetbench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    const int error = errno;
    throw std::runtime_error(fmt::format("scratch in {}: {}; {}", parent.string(),
                                         std::strerror(error), mend(error, parent)));
  }
  path_ = name;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return;  // without a janitor it is still removed in the usual way
  }
  janitor_ = fork();
  if (janitor_ == 0) {
    be_janitor(ends[0], path_);
  }
  close(ends[0]);
  janitor_pipe_ = ends[1];
}

Scratch::~Scratch() {
  remove_tree(path_);
  if (janitor_pipe_ >= 0) {
    close(janitor_pipe_);
  }
  if (janitor_ > 0) {
    // It may have more patience than we with files that cannot be removed.
    if (faccessat(AT_FDCWD, path_.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
      waitpid(janitor_, nullptr, 0);
    }
  }
}

void require_free_space(const std::filesystem::path& folder, double bytes, double share) {
  struct statvfs status {};
  if (statvfs(folder.c_str(), &status) != 0) {
    throw std::runtime_error(
        fmt::format("free space of {}: {}", folder.string(), std::strerror(errno)));
  }
  const double free_bytes =
      static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
  if (bytes > share * free_bytes) {
    throw std::runtime_error(fmt::format(
        "{} has {:.3g} MB free; this probe wants {:.3g} MB and takes at most {:.0f} % of what is "
        "free: free some space, name another folder with --scratch, or ask for less",
        folder.string(), free_bytes / 1e6, bytes / 1e6, 100 * share));
  }
}

bool remove_tree(const std::filesystem::path& folder) {
  const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (opened < 0) {
    return errno == ENOENT;
  }
  struct stat status {};
  if (fstat(opened, &status) != 0) {
    close(opened);
    return false;
  }
  return empty_folder(opened, status.st_dev) && (rmdir(folder.c_str()) == 0 || errno == ENOENT);
}

}  // namespace fleetbench
