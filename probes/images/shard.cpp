#include "probes/images/shard.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <cstring>
#include <new>

#include "probes/support/printable.hpp"

namespace fleetbench::images {
namespace {

// What one read asks the kernel for: as much as its readahead brings by default.
constexpr std::size_t kBlockBytes = 128 << 10;
// No image of ours is near it; a damaged header may claim anything.
constexpr std::int64_t kMostImageBytes = 256 << 20;

struct EntryDeleter {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

ArchiveHandle owned(archive* handle) {
  if (handle == nullptr) {
    throw std::bad_alloc();
  }
  return ArchiveHandle(handle);
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& image,
                       const std::string& what) {
  throw std::runtime_error(printable_text(fmt::format("{}{}{}: libarchive: {}", path.string(),
                                                      image.empty() ? "" : ": ", image, what)));
}

std::string text_of(archive* handle) {
  const char* text = archive_error_string(handle);
  return text == nullptr ? "failed without a reason" : text;
}

// Of a failed write libarchive says no more than that; of a failed read its number may be no errno.
std::string write_error(archive* handle) {
  const int error = archive_errno(handle);
  return error > 0 ? fmt::format("{}: {}", text_of(handle), std::strerror(error)) : text_of(handle);
}

}  // namespace

// Frees readers and writers alike.
void ArchiveDeleter::operator()(archive* handle) const { archive_free(handle); }

ShardWriter::ShardWriter(std::filesystem::path path, Compression compression)
    : path_(std::move(path)), handle_(owned(archive_write_new())) {
  check(compression == Compression::zstd ? archive_write_add_filter_zstd(handle_.get())
                                         : archive_write_add_filter_none(handle_.get()));
  check(archive_write_set_format_ustar(handle_.get()));
  check(archive_write_open_filename(handle_.get(), path_.c_str()));
}

void ShardWriter::add(const std::string& name, std::span<const std::byte> bytes) {
  const std::unique_ptr<archive_entry, EntryDeleter> entry(archive_entry_new());
  if (!entry) {
    throw std::bad_alloc();
  }
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0600);
  check(archive_write_header(handle_.get(), entry.get()));
  if (archive_write_data(handle_.get(), bytes.data(), bytes.size()) !=
      static_cast<la_ssize_t>(bytes.size())) {
    fail(path_, name, write_error(handle_.get()));
  }
}

void ShardWriter::finish() { check(archive_write_close(handle_.get())); }

void ShardWriter::check(int result) const {
  if (result != ARCHIVE_OK) {
    fail(path_, "", write_error(handle_.get()));
  }
}

ShardReader::ShardReader(std::filesystem::path path, Compression compression)
    : path_(std::move(path)), handle_(owned(archive_read_new())) {
  check(compression == Compression::zstd ? archive_read_support_filter_zstd(handle_.get())
                                         : archive_read_support_filter_none(handle_.get()),
        "");
  check(archive_read_support_format_tar(handle_.get()), "");
  check(archive_read_open_filename(handle_.get(), path_.c_str(), kBlockBytes), "");
}

std::string ShardReader::next(Bytes& bytes) {
  archive_entry* entry = nullptr;
  const int result = archive_read_next_header(handle_.get(), &entry);
  if (result == ARCHIVE_EOF) {
    return "";
  }
  check(result, "");
  const char* pathname = archive_entry_pathname(entry);
  std::string name = pathname == nullptr || *pathname == '\0' ? "(no name)" : pathname;
  const std::int64_t size = archive_entry_size(entry);
  if (size < 0 || size > kMostImageBytes) {
    throw std::runtime_error(printable_text(
        fmt::format("{}: {}: its header claims {} bytes", path_.string(), name, size)));
  }
  bytes.resize(static_cast<std::size_t>(size));
  const la_ssize_t got = archive_read_data(handle_.get(), bytes.data(), bytes.size());
  check(got < 0 ? static_cast<int>(got) : ARCHIVE_OK, name);
  bytes.resize(static_cast<std::size_t>(got));
  return name;
}

void ShardReader::check(int result, const std::string& image) const {
  if (result != ARCHIVE_OK) {
    fail(path_, image, text_of(handle_.get()));
  }
}

}  // namespace fleetbench::images
