// journal.jsonl: what was measured, one record a line, only ever appended to.
//
// A line is a JSON object whose last key is "crc": CRC-32 (zlib's, eight hex digits) of the bytes
// of the line before `,"crc"`. The first line says which schema the file follows. A process that
// dies while it writes leaves a torn last line, which a reader (journal_reader.hpp) drops.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "results-schema/run.hpp"

namespace fleetbench::record {

// Far more than a record of thousands of nodes takes.
inline constexpr std::size_t kLongestLine_bytes = std::size_t{64} << 20U;

class JournalWriter {
 public:
  // Creates the file; it must not exist. Throws std::system_error naming it.
  JournalWriter(const std::filesystem::path& path, const std::string& run_id);
  // Goes on with one. A last line without its end is completed where its checksum shows that
  // nothing else is missing, else taken away: nobody could read it. Throws std::system_error.
  static std::unique_ptr<JournalWriter> reopen(const std::filesystem::path& path);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // Throws std::system_error where the line cannot be written, the disk being full for instance.
  void append(const Record& record);
  // Everything appended is on disk afterwards.
  void sync();

 private:
  JournalWriter(std::filesystem::path path, int file) : path_(std::move(path)), file_(file) {}
  void write_line(const Json& json);
  void write_text(std::string_view text);
  void mend_last_line();

  std::filesystem::path path_;
  int file_ = -1;
};

// `line` without its end. Sealed: with its checksum. What it seals: the bytes before the checksum,
// all but the closing brace; throws std::invalid_argument saying what is wrong with the line.
// Opened: the object, without its checksum.
std::string sealed(const Json& json);
std::string_view what_it_seals(std::string_view line);
Json opened(std::string_view line);

}  // namespace fleetbench::record
