// Thousands of small files in folders, and what is done with them: parts of the profile
// small_files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fleetbench {

// What one thread works on. All names and orders are made before anything is timed; every node gets
// the same.
struct FileTree {
  std::vector<std::string> folders;
  std::vector<std::string> files;
  std::vector<std::uint32_t> order;  // shuffled indices of files
  std::uint64_t first = 0;           // number of its first file among those of all threads
};

// `files` files in all, as even as may be over `threads` trees, at most `files_per_folder` in each
// of their folders, whose paths begin with `stem`.
std::vector<FileTree> make_trees(const std::filesystem::path& stem, std::uint32_t files,
                                 std::uint32_t threads, std::uint32_t files_per_folder);

// Asks ext4 to put each folder made in `parent` elsewhere on the disk (chattr +T); others do not
// care. Seen on ext4: creating files in a block group in which many were made and deleted
// before is many times as slow as in a fresh one, also some time later; the cause is not known.
// Spreading makes that rarer, it does not rule it out.
void spread_folders(const std::filesystem::path& parent);

// Each of these does one kind of work on all of a tree; throws std::runtime_error naming the path.
void make_folders(const FileTree& tree);
// Each with `bytes` of noise, which no two files share.
void create_files(const FileTree& tree, std::uint64_t bytes);
void stat_files(const FileTree& tree);
// Returns how many names it saw.
std::uint64_t list_folders(const FileTree& tree);
// Opens, reads and closes each in shuffled order. Throws WrongResult where a file holds something
// else than was written.
void read_files(const FileTree& tree, std::uint64_t bytes);
void delete_files(const FileTree& tree);
void delete_folders(const FileTree& tree);

// Has what was written reach the disk, without the cost of a sync each, and the kernel forget it.
// Names stay in memory: to forget them takes root, and the whole machine with it.
void forget_contents(const FileTree& tree);

}  // namespace fleetbench
