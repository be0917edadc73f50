#include "probes/storage/file_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>

#include "probes/probe.hpp"
#include "probes/storage/data_files.hpp"
#include "probes/support/file_descriptor.hpp"
#include "probes/support/pages.hpp"
#include "probes/support/printable.hpp"

namespace fleetbench {
namespace {

namespace fs = std::filesystem;

// What a device deduplicates is at least this large; each piece carries the number of its file.
constexpr std::size_t kPiece_bytes = 512;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

void stamp(std::span<std::byte> content, std::uint64_t number) {
  for (std::size_t at = 0; at + sizeof number <= content.size(); at += kPiece_bytes) {
    std::memcpy(content.data() + at, &number, sizeof number);
  }
}

FileDescriptor opened(const std::string& path, int flags) {
  FileDescriptor file(open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!file) {
    throw_errno("opening", path);
  }
  return file;
}

void write_all(const FileDescriptor& file, std::span<const std::byte> content,
               const std::string& path) {
  while (!content.empty()) {
    const ssize_t count = write(file.get(), content.data(), content.size());
    if (count < 0 && errno != EINTR) {
      throw_errno("writing", path);
    }
    content = content.subspan(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
}

std::size_t read_all(const FileDescriptor& file, std::span<std::byte> content,
                     const std::string& path) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t count = read(file.get(), content.data() + done, content.size() - done);
    if (count == 0) {
      break;
    }
    if (count < 0 && errno != EINTR) {
      throw_errno("reading", path);
    }
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return done;
}

FileTree make_tree(const fs::path& folder, std::uint32_t files, std::uint32_t files_per_folder) {
  FileTree tree;
  for (std::uint32_t i = 0; i < files; ++i) {
    if (i % files_per_folder == 0) {
      tree.folders.push_back(fmt::format("{}.{}", folder.string(), i / files_per_folder));
    }
    tree.files.push_back(fmt::format("{}/{:08}.bin", tree.folders.back(), i));
    tree.order.push_back(i);
  }
  std::minstd_rand generator(files + 1);
  for (std::size_t i = tree.order.size(); i > 1; --i) {
    std::swap(tree.order[i - 1], tree.order[generator() % i]);
  }
  return tree;
}

}  // namespace

std::vector<FileTree> make_trees(const fs::path& stem, std::uint32_t files, std::uint32_t threads,
                                 std::uint32_t files_per_folder) {
  std::vector<FileTree> trees;
  std::uint64_t first = 0;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    const std::uint32_t share = files / threads + (thread < files % threads ? 1 : 0);
    trees.push_back(
        make_tree(fmt::format("{}.{}", stem.string(), thread), share, files_per_folder));
    trees.back().first = first;
    first += share;
  }
  return trees;
}

void spread_folders(const fs::path& parent) {
  const FileDescriptor folder(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int flags = 0;
  if (folder && ioctl(folder.get(), FS_IOC_GETFLAGS, &flags) == 0) {
    flags |= FS_TOPDIR_FL;
    ioctl(folder.get(), FS_IOC_SETFLAGS, &flags);
  }
}

void make_folders(const FileTree& tree) {
  for (const std::string& folder : tree.folders) {
    if (mkdir(folder.c_str(), 0700) != 0) {
      throw_errno("making folder", folder);
    }
  }
}

void create_files(const FileTree& tree, std::uint64_t bytes) {
  const Pages pages(bytes);
  const auto content = pages.bytes().first(bytes);
  fill_with_noise(content, tree.first + 1);
  for (std::size_t i = 0; i < tree.files.size(); ++i) {
    stamp(content, tree.first + i);
    const auto file = opened(tree.files[i], O_WRONLY | O_CREAT | O_EXCL);
    write_all(file, content, tree.files[i]);
  }
}

void stat_files(const FileTree& tree) {
  for (const std::uint32_t i : tree.order) {
    struct stat status {};
    if (stat(tree.files[i].c_str(), &status) != 0) {
      throw_errno("stat of", tree.files[i]);
    }
  }
}

std::uint64_t list_folders(const FileTree& tree) {
  std::uint64_t names = 0;
  for (const std::string& path : tree.folders) {
    const std::unique_ptr<DIR, CloseFolder> folder(opendir(path.c_str()));
    if (!folder) {
      throw_errno("listing", path);
    }
    while (const dirent* entry = readdir(folder.get())) {
      names += entry->d_name[0] != '.' ? 1 : 0;
    }
  }
  return names;
}

void read_files(const FileTree& tree, std::uint64_t bytes) {
  const Pages pages(bytes + 1);
  for (const std::uint32_t i : tree.order) {
    const std::string& path = tree.files[i];
    // One byte more than there is: a file that grew shows.
    const auto content = pages.bytes().first(bytes + 1);
    const auto file = opened(path, O_RDONLY);
    const std::size_t count = read_all(file, content, path);
    const std::uint64_t number = tree.first + i;
    if (count != bytes ||
        (bytes >= sizeof number && std::memcmp(content.data(), &number, sizeof number) != 0)) {
      throw WrongResult(fmt::format("{} holds {} bytes that are not the {} written to it",
                                    printable_text(path), count, bytes));
    }
  }
}

void delete_files(const FileTree& tree) {
  for (const std::string& path : tree.files) {
    if (unlink(path.c_str()) != 0) {
      throw_errno("deleting", path);
    }
  }
}

void delete_folders(const FileTree& tree) {
  for (const std::string& path : tree.folders) {
    if (rmdir(path.c_str()) != 0) {
      throw_errno("deleting", path);
    }
  }
}

void forget_contents(const FileTree& tree) {
  for (const std::string& path : tree.files) {
    const auto file = opened(path, O_RDONLY);
    sync_file_range(file.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  }
  for (const std::string& path : tree.files) {
    const auto file = opened(path, O_RDONLY);
    sync_file_range(
        file.get(), 0, 0,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

}  // namespace fleetbench
