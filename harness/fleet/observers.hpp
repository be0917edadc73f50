// Who hears of a run while it goes on.
#pragma once

#include <string>
#include <vector>

#include "results-schema/run.hpp"

namespace fleetbench::fleet {

// Where records go. `sync` is called after each slot: what was measured until then must outlive
// this process.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void add(const Record& record) = 0;
  virtual void sync() = 0;
};

// What a person is told while the run goes on.
class Progress {
 public:
  virtual ~Progress() = default;
  // Slot `number` of `count` begins.
  virtual void slot(int number, int count, const std::string& what) = 0;
  virtual void waiting_for(const std::vector<std::string>& nodes) = 0;
  virtual void note(const std::string& text) = 0;
};

}  // namespace fleetbench::fleet
