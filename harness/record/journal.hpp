// journal.jsonl: what was measured, one record a line, only ever appended to.
//
// A line is a JSON object whose last key is "crc": CRC-32 (zlib's, eight hex digits) of the bytes
// of the line before `,"crc"`. The first line says which schema the file follows. A process that
// dies while it writes leaves a torn last line, which a reader drops.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::record {

class JournalWriter {
 public:
  // Creates the file; it must not exist. Throws std::system_error naming it.
  JournalWriter(const std::filesystem::path& path, const std::string& run_id);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // Throws std::system_error where the line cannot be written, the disk being full for instance.
  void append(const Record& record);
  // Everything appended is on disk afterwards.
  void sync();

 private:
  void write_line(const Json& json);

  std::filesystem::path path_;
  int file_ = -1;
};

// `line` without its end. Sealed: with its checksum. Opened: the object without it; throws
// std::invalid_argument saying what is wrong with the line.
std::string sealed(const Json& json);
Json opened(const std::string& line);

// Calls `take` for each record. Returns what could not be read: "journal.jsonl:17: ...". A last
// line without its end is no damage.
std::vector<std::string> read_journal(const std::string& text, const std::string& source,
                                      const std::function<void(const Record&)>& take);

}  // namespace fleetbench::record
