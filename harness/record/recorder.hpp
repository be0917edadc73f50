// Keeps a run twice while it goes on: on disk, so that it outlives this process, and in memory, so
// that a full disk does not lose what was measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/record/journal.hpp"
#include "harness/record/run_directory.hpp"
#include "results-schema/report.hpp"
#include "results-schema/run.hpp"

namespace fleetbench::record {

class Recorder {
 public:
  // Writes run.json and begins the journal; until the end the verdict is INCONCLUSIVE. Throws
  // std::system_error.
  Recorder(RunDirectory directory, RunHeader header);
  // Goes on with a run as load_run() gave it, whose header may have changed. Throws
  // std::system_error.
  Recorder(RunDirectory directory, RunData run);

  // What a node is: kept in run.json, not in the journal.
  void set_inventory(int node, Json inventory);
  // Brings it to disk; where that fails the run goes on in memory and run().damage says so.
  void rewrite_header();
  void add(const Record& record);
  // After a failure to write, the run goes on in memory and run().damage says so.
  void sync();

  const RunData& run() const { return run_; }
  const RunDirectory& directory() const { return directory_; }

 private:
  void write_header();
  void give_up_disk(const std::string& reason);

  RunDirectory directory_;
  RunData run_;
  InventoryPool inventories_;
  std::unique_ptr<JournalWriter> journal_;  // null once the disk refused
};

// Writes report.json, fleetbench.prom and, last, verdict, which a full disk does not prevent.
// Throws std::system_error where not all of it could be written.
void write_report(const RunDirectory& directory, const std::string& report_json,
                  const std::string& prometheus_text, Verdict verdict);

// A run as it is on disk, whole or not. Throws InputError where run.json cannot be understood;
// damage of the journal is listed in the result.
RunData load_run(const RunDirectory& directory);

// The word in the verdict file; INCONCLUSIVE where there is none. Throws InputError where the file
// holds something else.
Verdict load_verdict(const RunDirectory& directory);

}  // namespace fleetbench::record
