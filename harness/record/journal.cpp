#include "harness/record/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "harness/record/run_directory.hpp"
#include "results-schema/check.hpp"

namespace fleetbench::record {
namespace {

constexpr std::string_view kSeal = ",\"crc\":\"";
constexpr std::size_t kSealLength = kSeal.size() + 8 + 2;  // eight digits, quote, brace

std::string checksum(std::string_view bytes) {
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  return fmt::format("{:08x}", crc);
}

}  // namespace

std::string sealed(const Json& json) {
  std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  line.pop_back();  // the closing brace comes after the checksum
  const std::string crc = checksum(line);
  line += kSeal;
  line += crc;
  line += "\"}";
  return line;
}

std::string_view what_it_seals(std::string_view line) {
  if (line.size() < kSealLength + 1 ||
      line.compare(line.size() - kSealLength, kSeal.size(), kSeal) != 0 || !line.ends_with("\"}")) {
    throw std::invalid_argument("the line has no checksum at its end");
  }
  const std::string_view body = line.substr(0, line.size() - kSealLength);
  if (checksum(body) != line.substr(line.size() - 10, 8)) {
    throw std::invalid_argument("the line does not match its checksum");
  }
  return body;
}

Json opened(std::string_view line) {
  const std::string_view sealed = what_it_seals(line);
  if (too_deep_at(sealed)) {
    throw std::invalid_argument(fmt::format("nested more than {} deep", kMaxJsonDepth));
  }
  return Json::parse(std::string(sealed) + "}");
}

JournalWriter::JournalWriter(const std::filesystem::path& path, const std::string& run_id)
    : path_(path),
      file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_ < 0) {
    throw std::system_error(errno, std::generic_category(), path_.string() + ": cannot create");
  }
  write_line({{"t", "journal"}, {"schema", kJournalSchema}, {"run_id", run_id}});
}

std::unique_ptr<JournalWriter> JournalWriter::reopen(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    throw std::system_error(errno, std::generic_category(), path.string() + ": cannot be opened");
  }
  std::unique_ptr<JournalWriter> writer(new JournalWriter(path, file));
  writer->mend_last_line();
  return writer;
}

void JournalWriter::mend_last_line() {
  std::ifstream file(path_, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::size_t>(std::max<std::streamoff>(0, file.tellg()));
  std::string tail(std::min(size, kLongestLine_bytes + 1), '\0');
  file.seekg(-static_cast<std::streamoff>(tail.size()), std::ios::end);
  if (!file.read(tail.data(), static_cast<std::streamsize>(tail.size()))) {
    throw std::system_error(errno, std::generic_category(), path_.string() + ": cannot read");
  }
  const std::string_view last = std::string_view(tail).substr(tail.rfind('\n') + 1);
  if (last.empty()) {
    return;
  }
  if (last.size() == tail.size() && tail.size() < size) {
    write_text("\n");  // no record is that long: what follows is to be read
    return;
  }
  try {
    what_it_seals(last);
    write_text("\n");
  } catch (const std::invalid_argument&) {
    if (::ftruncate(file_, static_cast<off_t>(size - last.size())) != 0) {
      throw std::system_error(errno, std::generic_category(), path_.string() + ": cannot be cut");
    }
  }
}

JournalWriter::~JournalWriter() { ::close(file_); }

void JournalWriter::append(const Record& record) { write_line(to_json(record)); }

void JournalWriter::write_line(const Json& json) { write_text(sealed(json) + "\n"); }

void JournalWriter::write_text(std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), path_.string() + ": cannot write");
    }
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
}

void JournalWriter::sync() {
  if (::fdatasync(file_) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            path_.string() + ": cannot be brought to disk");
  }
}

}  // namespace fleetbench::record
