// Whole files, read and written; errors name the path.
#pragma once

#include <filesystem>
#include <span>

#include "probes/images/picture.hpp"

namespace fleetbench::images {

// Owns an open file.
class OpenFile {
 public:
  // Flags as for open(2). Throws std::system_error naming the path.
  OpenFile(const std::filesystem::path& path, int flags);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Replaces what is in `bytes`, whose memory is kept from file to file. Throws std::system_error.
void read_file(const std::filesystem::path& path, Bytes& bytes);

// A new file; throws std::system_error where it is there already, or the disk is full.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

// Takes the file's pages out of the page cache, once they are on disk. A file system without a
// disk (tmpfs) has nowhere else to keep them, and does nothing. Throws std::system_error.
void drop_from_page_cache(const std::filesystem::path& path);

}  // namespace fleetbench::images
