// Reads journal.jsonl, of which a large fleet writes gigabytes: block by block, two threads parse.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::record {

using TakeRecord = std::function<void(Record&&)>;

// Calls `take` for each record, in the file's order, from the calling thread. Returns what could
// not be read, and what `take` threw: "journal.jsonl:17: ...". A last line without its end is no
// damage. Throws InputError where the file cannot be read.
std::vector<std::string> read_journal(const std::filesystem::path& path, const TakeRecord& take);

// The same for a text that is at hand, which is parsed in blocks of about so many bytes.
inline constexpr std::size_t kJournalBlock = std::size_t{2} << 20U;
std::vector<std::string> read_journal(const std::string& text, const std::string& source,
                                      const TakeRecord& take, std::size_t block = kJournalBlock);

}  // namespace fleetbench::record
