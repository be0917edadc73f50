// What the root records and tells, for tests to look at.
#pragma once

#include <string>
#include <vector>

#include "harness/fleet/observers.hpp"

namespace fleetbench::fleet {

struct Heard : RecordSink, Progress {
  void add(const Record& record) override { records.push_back(record); }
  void sync() override {}
  void slot(int /*number*/, int /*count*/, const std::string& /*what*/) override {}
  void waiting_for(const std::vector<std::string>& /*nodes*/) override {}
  void note(const std::string& text) override { notes.push_back(text); }

  std::vector<Record> records;
  std::vector<std::string> notes;
};

}  // namespace fleetbench::fleet
