#include "probes/support/host_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "probes/support/file_descriptor.hpp"
#include "probes/support/text_fields.hpp"

namespace fs = std::filesystem;

namespace fleetbench {

fs::path HostFiles::below_root(const fs::path& path) const { return root_ / path.relative_path(); }

std::optional<std::string> HostFiles::read(const fs::path& path, bool first_line) const {
  // Hundreds of files are read around each measurement: calls of the kernel are what that costs.
  const FileDescriptor file(open(below_root(path).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return std::nullopt;
  }
  std::string text;
  std::array<char, 8192> chunk;
  while (text.size() <= kMaxFileBytes) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {  // a folder, or a value that the kernel refuses, as the speed of a link that is
                    // down
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (first_line && text.find('\n') != std::string::npos) {
      break;
    }
  }
  if (text.size() > kMaxFileBytes) {
    text.resize(kMaxFileBytes);
    text.resize(text.rfind('\n') == std::string::npos ? text.size() : text.rfind('\n') + 1);
  }
  return text;
}

std::optional<std::string> HostFiles::read_text(const fs::path& path) const {
  return read(path, false);
}

std::optional<std::string> HostFiles::read_line(const fs::path& path) const {
  const std::optional<std::string> text = read(path, true);
  if (!text) {
    return std::nullopt;
  }
  const std::string line(trimmed(std::string_view(*text).substr(0, text->find('\n'))));
  return line.empty() ? std::nullopt : std::optional(line);
}

std::optional<std::int64_t> HostFiles::read_integer(const fs::path& path) const {
  const std::optional<std::string> line = read_line(path);
  return line ? parse_integer(*line) : std::nullopt;
}

std::optional<std::vector<std::string>> HostFiles::list(const fs::path& folder) const {
  std::error_code error;
  fs::directory_iterator entry(below_root(folder), error);
  if (error) {
    return std::nullopt;
  }
  std::vector<std::string> names;
  while (entry != fs::directory_iterator() && names.size() < kMaxEntries) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
    if (error) {
      break;
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool HostFiles::is_folder(const fs::path& path) const {
  std::error_code error;
  return fs::is_directory(below_root(path), error);
}

std::optional<std::string> HostFiles::link_name(const fs::path& path) const {
  std::error_code error;
  const fs::path target = fs::read_symlink(below_root(path), error);
  return error || target.filename().empty() ? std::nullopt
                                            : std::optional(target.filename().string());
}

std::optional<fs::path> HostFiles::resolved(const fs::path& path) const {
  std::error_code error;
  const fs::path target = fs::canonical(below_root(path), error);
  if (error) {
    return std::nullopt;
  }
  const fs::path root = fs::canonical(root_, error);
  return error ? std::nullopt : std::optional("/" / target.lexically_relative(root));
}

}  // namespace fleetbench
