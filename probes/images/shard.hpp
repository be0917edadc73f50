// Archives of images, one after the other in a tar file, as WebDataset reads them; by libarchive.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "probes/images/picture.hpp"

struct archive;

namespace fleetbench::images {

enum class Compression { none, zstd };

struct ArchiveDeleter {
  void operator()(archive* handle) const;  // of a reader or a writer
};
using ArchiveHandle = std::unique_ptr<archive, ArchiveDeleter>;

// Writes a new archive (ustar). The same contents give the same bytes: no times, no owners.
class ShardWriter {
 public:
  ShardWriter(std::filesystem::path path, Compression compression);
  // All throw std::runtime_error naming the path and what libarchive says.
  void add(const std::string& name, std::span<const std::byte> bytes);
  void finish();  // without it the archive is not whole

 private:
  void check(int result) const;

  std::filesystem::path path_;
  ArchiveHandle handle_;
};

// Reads an archive from its start, one image at a time. One thread.
class ShardReader {
 public:
  ShardReader(std::filesystem::path path, Compression compression);
  // The next image's bytes replace `bytes`; its name is returned, empty at the archive's end.
  // Throws std::runtime_error naming the path, the image where known, and what libarchive says.
  std::string next(Bytes& bytes);

 private:
  void check(int result, const std::string& image) const;

  std::filesystem::path path_;
  ArchiveHandle handle_;
};

}  // namespace fleetbench::images
